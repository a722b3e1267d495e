//! Bodies of providers' APIs that are not read, and those whose messages are elsewhere in them.

use super::Foreign;

pub(super) static TABLE: &[Foreign] = &[
    Foreign::new(
        "an entry of a Mistral Conversations body",
        &[
            "any type=message.input|message.output|function.call|function.result|tool.execution",
            "any object=entry",
            "document outputs/type=message.output|function.call|tool.execution",
            "document inputs/role agent_id",
            "document inputs/role model",
            "document inputs:T agent_id",
        ],
    ),
    Foreign::new(
        "a log of an invocation of Bedrock, with its request and its response",
        &["document modelInvocationId", "document schemaType input"],
    ),
    Foreign::new("a batch row of Bedrock", &["document recordId modelInput"])
        .way("its conversation is in `modelInput`"),
    Foreign::new(
        "messages of Haystack",
        &[
            "content tool_call !type",
            "content tool_call_result !type",
            "message meta content/text !content/type !content/toolUse",
            "message _content _role",
        ],
    )
    .of_format("haystack"),
    Foreign::new(
        "a session of Strands, whose messages are of Bedrock Converse",
        &["document message_id message:O created_at redact_message", "any message_id message/role"],
    ),
    Foreign::new(
        "a Cohere chat document",
        &[
            "message tool_plan",
            "content type=document document data !source",
            "message role=tool content/document !content/source",
            "document finish_reason message/tool_plan",
            "message role=USER|CHATBOT|Chatbot|User message:T",
            "document chat_history/message",
            "document chat_history message:T",
        ],
    ),
    Foreign::new(
        "an answer of Ollama's native API",
        &[
            "document message/role done",
            "document response:T created_at done",
            "document done_reason",
            "document total_duration done",
            "document eval_count done",
        ],
    )
    .way("`--field message` reads the message of `/api/chat`; Ollama answers as OpenAI does at `/v1/chat/completions`"),
    Foreign::new(
        "a request of Ollama's native API",
        &[
            "message role=tool tool_name !tool_call_id !call_id",
            "message images:F content:T",
            "document prompt:T options",
            "document prompt:T keep_alive",
            "document messages keep_alive",
        ],
    ),
    Foreign::new(
        "a message of A2A (Agent2Agent)",
        &[
            "parts kind !type",
            "any messageId parts",
            "document message/messageId message/parts",
            "document kind=task contextId",
            "document kind=task status",
            "document method^message/",
            "document method^tasks/",
            "document jsonrpc result/kind",
        ],
    ),
    Foreign::new(
        "MCP messages (Model Context Protocol: sampling or a prompt)",
        &[
            "message content:O role content/type=image|audio|resource|resource_link !content/source !tool_call_id",
            "content toolUseId type",
            "content{} toolUseId type",
            "document systemPrompt maxTokens",
            "document method=sampling/createMessage|prompts/get|tools/call|tools/list",
            "document jsonrpc result/messages",
            "document jsonrpc params/messages",
        ],
    ),
    Foreign::new(
        "an MCP tool result",
        &["document isError content", "document jsonrpc result/content"],
    ),
    Foreign::new(
        "a JSON-RPC message",
        &["document jsonrpc method", "document jsonrpc result", "document jsonrpc error"],
    ),
    Foreign::new(
        "a page of OpenAI Assistants",
        &[
            "document data/object=thread.message|thread.run|thread.run.step",
            "any object=thread.message|thread.run|thread.run.step|thread",
        ],
    ),
    Foreign::new(
        "OpenAI Realtime items or events",
        &[
            "any object=realtime.item|realtime.response|realtime.session",
            "document item/object=realtime.item",
            "content type=input_audio transcript !input_audio",
            "content type=input_audio audio !input_audio",
            "content type=output_audio",
            "document event_id type^conversation.item.",
            "document event_id type^input_audio_buffer.",
            "document event_id type^session.",
            "document event_id type^response.",
            "document event_id type^rate_limits.",
            "document type=conversation.item.create",
            "document type=session.update session",
        ],
    )
    .spans(),
    Foreign::new(
        "a chunk of an OpenAI stream",
        &["document object=chat.completion.chunk", "document choices/delta !choices/message"],
    )
    .way("`msg stream` reads the whole stream"),
    Foreign::new(
        "an event of an OpenAI Responses stream",
        &[
            "document type^response. sequence_number",
            "document type=response.created|response.completed response",
        ],
    )
    .way("`msg stream` reads the whole stream"),
    Foreign::new(
        "an event of an Anthropic stream",
        &[
            "document type=message_start message",
            "document type=content_block_start|content_block_delta|content_block_stop index",
            "document type=message_delta delta",
        ],
    )
    .way("`msg stream` reads the whole stream"),
    Foreign::new(
        "a page of a list object",
        &[
            "document object=list data/role",
            "document object=list data/type=message",
            "document data/role has_more",
        ],
    )
    .way("its messages are in `data`"),
    Foreign::new(
        "a text completion",
        &["document object=text_completion", "document type=completion completion:T"],
    ),
    Foreign::new(
        "an error of a provider's API",
        &["entry error/message @1", "entry type=error error"],
    ),
    Foreign::new(
        "an embeddings body",
        &["document encoding_format input", "document object=list data/embedding"],
    ),
    Foreign::new(
        "chat messages with parts of OpenAI Responses",
        &[
            "messages.content type=input_text|output_text|input_image",
            "messages.content type=input_file !file",
        ],
    )
    .way("under `input` they are read as responses"),
];
