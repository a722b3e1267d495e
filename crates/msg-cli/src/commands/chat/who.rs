//! Who answers, and with which settings (MF-16, MF-17, MF-28).

use msg_file::{AgentConfig, Document, NewCell, set_default_cell};

use crate::exit::{Failure, refuse_if};

#[derive(Debug, Clone, clap::Args)]
pub(super) struct WhoArgs {
    /// The agent that answers.
    #[arg(long, value_name = "A")]
    agent: Option<String>,
    /// The model that answers; one that no agent of the file has becomes a temporary agent.
    #[arg(long, value_name = "M")]
    model: Option<String>,
    /// The temperature; of a new agent from now on, else of this answer.
    #[arg(long, value_name = "T")]
    temperature: Option<f64>,
    /// The most tokens of the answer; of a new agent from now on, else of this answer.
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,
    /// Make the agent the default of the file.
    #[arg(long)]
    set_default: bool,
}

/// The choice of an agent.
pub(super) struct Who {
    /// Its name; none leaves the choice to the file.
    pub(super) agent: Option<String>,
    /// The cells that make it known, or the default.
    pub(super) cells: Vec<NewCell>,
}

/// An agent with the settings of this answer.
pub(super) struct Settings {
    pub(super) agent: String,
    pub(super) model: String,
    pub(super) config: AgentConfig,
}

impl Who {
    /// What the arguments choose. An agent that the file does not know is refused when the history is
    /// made; a model that it does not know makes an agent.
    pub(super) fn choose(document: &Document, args: &WhoArgs) -> Self {
        let agent = args
            .agent
            .clone()
            .or_else(|| args.model.as_deref().and_then(|it| has_model(document, it)));
        match (agent, &args.model) {
            (None, Some(model)) => {
                Who { agent: Some(model.clone()), cells: vec![args.agent_cell(model)] }
            }
            (Some(agent), _) => {
                let default = args.set_default.then(|| set_default_cell(document, &agent).ok());
                Who { cells: default.flatten().into_iter().collect(), agent: Some(agent) }
            }
            (None, None) => Who { agent: None, cells: Vec::new() },
        }
    }

    /// An agent of the document, the arguments over what the document says of it.
    pub(super) fn named(document: &Document, agent: &str, args: &WhoArgs) -> Settings {
        let known = document.agents().iter().find(|it| *it.name == *agent);
        let mut config = known.map(|it| (*it.config).clone()).unwrap_or_default();
        if args.temperature.is_some() {
            config.temperature = args.temperature;
            config.use_temperature = Some(true);
        }
        config.max_output_tokens = args.max_tokens.or(config.max_output_tokens);
        let first = config.models.as_ref().and_then(|it| it.first());
        let model = args.model.as_ref().or(first).cloned().unwrap_or_else(|| agent.to_owned());
        Settings { agent: agent.to_owned(), model, config }
    }
}

impl WhoArgs {
    /// Fails if no default agent is named.
    pub(super) fn is_complete(&self) -> Result<(), Failure> {
        refuse_if(
            self.set_default && self.agent.is_none() && self.model.is_none(),
            "--set-default needs --agent or --model",
        )
    }

    /// The cell of a temporary agent that has the name of its model.
    fn agent_cell(&self, model: &str) -> NewCell {
        let cell = NewCell { ty: Some("agent".to_owned()), ..NewCell::message("") };
        let mut cell = cell.with_attr("name", model);
        if let Some(temperature) = self.temperature {
            cell = cell.with_attr("temperature", temperature.to_string());
        }
        if let Some(tokens) = self.max_tokens {
            cell = cell.with_attr("max_output_tokens", tokens.to_string());
        }
        if self.set_default { cell.with_attr("default", "1") } else { cell }
    }
}

/// The agent of that name or, else, the first one that has the model, the default before others.
fn has_model(document: &Document, model: &str) -> Option<String> {
    let agents = document.agents();
    let named = agents.iter().find(|it| *it.name == *model);
    let default = document.default_agent_at(document.cells().len());
    let offers = |it: &&msg_file::Agent| it.config.models.iter().flatten().any(|it| it == model);
    let found = named
        .or_else(|| agents.iter().filter(offers).find(|it| Some(&*it.name) == default))
        .or_else(|| agents.iter().find(offers));
    found.map(|it| it.name.to_string())
}
