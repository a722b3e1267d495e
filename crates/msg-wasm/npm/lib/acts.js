// The numbers of the engine's acts (`src/state.rs`, `src/acts.rs`), by the names that options have.
export const ACTS = {
  tools: 0, stream: 1, check: 2, isValid: 3, repair: 4, convert: 5, fit: 6, stats: 7, cache: 8, messages: 9, key: 10, fitRequests: 11,
};
