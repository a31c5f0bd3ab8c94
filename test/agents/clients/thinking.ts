/* Thinking settings of clients for the families of Claude. */

/** A model that thinks only within a budget. */
export const BUDGETED = 'claude-sonnet-4-5'

export const ADAPTIVE = { type: 'adaptive', display: 'summarized' } as const

/** Returns the settings in Anthropic's own fields. */
export const thinkingOf = (model: string) => (model === BUDGETED ? { type: 'enabled', budget_tokens: 4000 } : ADAPTIVE)
