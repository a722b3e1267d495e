//! Exports of applications, and the sessions and logs of agents that are not read.

use super::Foreign;

pub(super) static TABLE: &[Foreign] = &[
    Foreign::new(
        "a ChatGPT export",
        &[
            "document mapping:O create_time",
            "document mapping:O current_node",
            "document mapping:O title",
        ],
    ),
    Foreign::new("a Claude.ai export", &["document chat_messages"]),
    Foreign::new("a prompt of Google AI Studio", &["document chunkedPrompt"]),
    Foreign::new(
        "a chat of VS Code Copilot",
        &["document requesterUsername", "document responderUsername requests"],
    ),
    Foreign::new("a Cursor composer", &["document composerId", "any bubbleId type"]),
    Foreign::new(
        "a chat of Open WebUI",
        &[
            "document chat/history",
            "document history/messages models",
            "document history/currentId",
        ],
    ),
    Foreign::new(
        "a conversation of LibreChat",
        &["message isCreatedByUser sender", "message isCreatedByUser messageId"],
    ),
    Foreign::new(
        "a thread of Zed",
        &["message segments role", "document initial_project_snapshot", "message Agent:O @1"],
    ),
    Foreign::new("a chat of LM Studio", &["message versions currentlySelected"]),
    Foreign::new("a session of Continue", &["message contextItems message"]),
    Foreign::new(
        "a Slack export",
        &["message ts user type=message", "message ts client_msg_id", "message ts thread_ts"],
    ),
    Foreign::new(
        "a Discord export",
        &["document guild channel messages", "message author content channel_id"],
    ),
    Foreign::new("a Telegram export", &["message text_entities"]),
    Foreign::new("a Messenger or Instagram export", &["message sender_name timestamp_ms"]),
    Foreign::new(
        "a tracker of Rasa",
        &[
            "document latest_message slots",
            "document sender_id events/event",
            "document sender_id latest_message",
        ],
    ),
    Foreign::new(
        "a Dialogflow response",
        &[
            "document queryResult/queryText",
            "document queryResult/intent",
            "document fulfillmentText",
        ],
    ),
    Foreign::new("a conversation of Intercom", &["document conversation_parts"]),
    Foreign::new(
        "a page of Gmail's list of messages",
        &["document resultSizeEstimate messages/threadId"],
    ),
    Foreign::new("a SendGrid mail", &["document personalizations from"]),
    Foreign::new("a chat of SillyTavern", &["any is_user mes"]).spans(),
    Foreign::new("a Jupyter notebook", &["document cells nbformat"]),
    Foreign::new("an OpenAPI document", &["document openapi paths", "document swagger paths"]),
    Foreign::new(
        "a single message, not a conversation",
        // One of Converse, whose blocks have no type, is read.
        &[
            "entry role content:T !messages !parts !type",
            "entry role content/type !messages !parts !type",
            "entry role content tool_calls !messages !parts !type",
        ],
    )
    .way("put the messages of a conversation into one list, as `jq -s .` does"),
];
