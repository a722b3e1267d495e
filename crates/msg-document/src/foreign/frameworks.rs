//! Messages as frameworks and applications keep them.

use super::Foreign;

pub(super) static TABLE: &[Foreign] = &[
    Foreign::new(
        "messages of Mastra",
        &["content{} format parts", "message threadId resourceId content"],
    ),
    Foreign::new(
        "UI messages of the AI SDK 4 (UIMessage)",
        &["parts type=tool-invocation", "message toolInvocations"],
    )
    .of_format("vercel-ui"),
    Foreign::new(
        "messages of the AI SDK 4 (CoreMessage)",
        &["content type=tool-call args toolName", "content type=tool-result result toolName"],
    )
    .of_format("ai-sdk"),
    Foreign::new(
        "messages of the AI SDK (ModelMessage, or a LanguageModel prompt)",
        &[
            "content type=tool-call|tool-result toolCallId",
            "content type=tool-call|tool-result toolName",
            "content type=tool-approval-request|tool-approval-response",
            "message providerOptions",
            "content providerOptions",
            "content mediaType type=file|image|reasoning-file",
        ],
    )
    .of_format("ai-sdk"),
    Foreign::new(
        "events of AG-UI",
        &[
            "any type=RUN_STARTED|RUN_FINISHED|RUN_ERROR|STEP_STARTED|STEP_FINISHED|STATE_SNAPSHOT|STATE_DELTA|MESSAGES_SNAPSHOT",
            "any type=TEXT_MESSAGE_START|TEXT_MESSAGE_CONTENT|TEXT_MESSAGE_END|TEXT_MESSAGE_CHUNK",
            "any type=TOOL_CALL_START|TOOL_CALL_ARGS|TOOL_CALL_END|TOOL_CALL_RESULT|TOOL_CALL_CHUNK",
        ],
    )
    .way("its `MESSAGES_SNAPSHOT` holds `messages`, which are read")
    .spans(),
    Foreign::new(
        "messages of AG-UI",
        &[
            "document threadId runId messages",
            "message toolCalls id !type",
            "message toolCallId id role !type",
        ],
    )
    .of_format("ag-ui"),
    Foreign::new(
        "messages of Mistral's JavaScript SDK, with `toolCalls` in camel case",
        &["message toolCalls role", "message toolCallId role"],
    ),
    Foreign::new(
        "messages of LlamaIndex",
        &[
            "blocks block_type",
            "message additional_kwargs blocks",
            "document store/*/blocks",
            "document store/*/additional_kwargs",
            "document store class_name",
        ],
    )
    .of_format("llama-index"),
    Foreign::new(
        "messages of Microsoft.Extensions.AI or the Agent Framework",
        &[
            "contents $type",
            "contents type=function_call|function_result|text_reasoning|function_approval_request",
            "message contents role type=chat_message|message",
            "message contents author_name",
        ],
    )
    .of_format("agent-framework"),
    Foreign::new(
        "messages of Semantic Kernel",
        &[
            "items content_type",
            "items $type",
            "message Role/Label",
            "message Role Items",
            "message AuthorName Role",
        ],
    )
    .of_format("semantic-kernel"),
    Foreign::new(
        "messages of AutoGen",
        &[
            "message models_usage source",
            "message type=TextMessage|ToolCallRequestEvent|ToolCallExecutionEvent|ToolCallSummaryMessage|HandoffMessage|StopMessage|MultiModalMessage|ThoughtEvent",
            "message type=UserMessage|AssistantMessage|FunctionExecutionResultMessage source",
            "message type=FunctionExecutionResultMessage|SystemMessage content !role",
            "document llm_context/messages",
        ],
    )
    .of_format("autogen"),
    Foreign::new(
        "the state of a team of AutoGen",
        &["document type=AssistantAgentState|ChatAgentContainerState|TeamState|RoundRobinManagerState|SelectorManagerState"],
    )
    .of_format("autogen"),
    Foreign::new(
        "messages of the Rust crate rig",
        &[
            "content type=toolcall|toolresult",
            "content id function !type",
            "document preamble chat_history/content",
        ],
    ),
    Foreign::new(
        "messages of the Rust crate swiftide",
        &["message ToolOutput:L @1", "message Assistant:L @1"],
    ),
    Foreign::new(
        "messages of the Rust crate genai",
        &[
            "any fn_name call_id",
            "content{} ToolCalls=fn_name",
            "content ToolCall !type @1",
            "content ToolResponse !type @1",
            "content{} ToolResponses",
            "content{} Parts @1",
        ],
    ),
    Foreign::new(
        "messages of LangChain4j",
        &[
            "message type=TOOL_EXECUTION_RESULT toolName",
            "message toolExecutionRequests",
            "message type=USER contents",
            "message type=AI text",
        ],
    ),
    Foreign::new(
        "messages of Spring AI",
        &["message messageType media", "message messageType=USER|ASSISTANT|SYSTEM|TOOL"],
    ),
    Foreign::new(
        "messages of Letta",
        &["any message_type$_message date", "any message_type$_message id"],
    ),
    Foreign::new(
        "memory steps of smolagents",
        &[
            "message role=tool-call|tool-response",
            "any step_number model_output",
            "any step_number model_input_messages",
            "any step_number tool_calls",
        ],
    ),
    Foreign::new(
        "messages of Inspect",
        &["message tool_calls/function:T", "message role=tool function:T tool_call_id"],
    )
    .way("a whole log of Inspect is read"),
    Foreign::new(
        "messages or a turn of Llama Stack",
        &[
            "any input_messages output_message",
            "message stop_reason=end_of_turn|end_of_message|out_of_tokens role",
            "message role=tool call_id tool_name",
            "document completion_message",
        ],
    ),
    Foreign::new(
        "chat messages whose calls have no `function` (OpenHands, tau2)",
        &["message role tool_calls/name !tool_calls/function !tool_calls/custom"],
    ),
    Foreign::new(
        "messages of Pi",
        &["content type=toolCall", "message role=toolResult", "message stopReason api provider"],
    )
    .spans(),
    Foreign::new(
        "a session or events of Google's ADK (Agent Development Kit)",
        &[
            "any author invocationId",
            "any author invocation_id",
            "document events/author",
            "document appName userId events",
            "document app_name user_id events",
        ],
    )
    .of_format("adk")
    .spans(),
    Foreign::new(
        "a result of LangChain (LLMResult), whose messages are in `generations`",
        &["document generations llm_output", "document generations type=LLMResult"],
    ),
    Foreign::new(
        "a checkpoint of LangGraph without messages",
        &["document channel_values !messages !channel_values/messages"],
    ),
];
