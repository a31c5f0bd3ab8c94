/** The task of an agent, and the behaviour of its upstream. */
export interface Scenario {
  readonly name: 'session' | 'cut-call' | 'cut-text' | 'plain' | 'errors'
  /** Position at which the first answer breaks off. */
  readonly cut?: 'call' | 'text'
  /**
   * Set for scenarios that are no session with tools: a question without tools and reasoning, or requests that are
   * refused.
   */
  readonly asks?: 'plainly' | 'in vain'
}

export const SCENARIOS: readonly Scenario[] = [
  { name: 'session' },
  { name: 'cut-call', cut: 'call' },
  { name: 'cut-text', cut: 'text' },
  { name: 'plain', asks: 'plainly' },
  { name: 'errors', asks: 'in vain' },
]

/** Scenarios of agents, and of programs that support no others. */
export const SESSIONS: readonly Scenario['name'][] = ['session', 'cut-call', 'cut-text']

export const PROMPT = 'Read notes.txt, then write first.txt and second.txt.'

/** Files in the work folder at the start. */
export const NOTES = { 'notes.txt': 'The word is “plum”.\n' } as const

/** Files that must be in the work folder at the end, with their content. */
export const WRITTEN = {
  'first.txt': 'plum & "jam"\n\tsüß — 漢字 \\n 100%\n',
  'second.txt': "it's <b>plum</b> again: {“done”: true}\n",
} as const

/** File that the call of a broken answer would write. */
export const HALF = { path: 'half.txt', content: `${'Never to be written. '.repeat(8)}\n` } as const

/** Reasoning before each answer. */
export const THOUGHTS = [
  'First I look at the notes, and write the first file at once.\n\nBoth are needed.',
  'The second file is missing.',
  'Everything is there.',
] as const

export const BROKEN_TEXT = 'I shall look at the notes now, and then there will be more to say about them.'
export const FINAL_TEXT = 'Both files are written: plum it is.'
/** Answers to the plain question, whole and then streamed. The printed lines start with these words. */
export const PLAIN = ['whole', 'streamed'] as const
/** Upstream statuses of a wrong key and of a rate limit. The printed lines start with these words. */
export const REFUSALS = { key: 401, rate: 429 } as const
/** Answer to requests without tools, such as those for a title or a summary. */
export const ASIDE = 'Plums'
