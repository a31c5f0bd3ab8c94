/* How clients ask Claude to think: as its families want it. */

/** A model that thinks within a budget, and in no other way. */
export const BUDGETED = 'claude-sonnet-4-5'

export const ADAPTIVE = { type: 'adaptive', display: 'summarized' } as const

/** In Anthropic's own words. */
export const thinkingOf = (model: string) => (model === BUDGETED ? { type: 'enabled', budget_tokens: 4000 } : ADAPTIVE)
