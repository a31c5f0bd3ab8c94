/** What an agent is asked to do, and what its upstream does on the way. */
export interface Scenario {
  readonly name: 'session' | 'cut-call' | 'cut-text' | 'plain' | 'errors'
  /** Where the first answer breaks off. */
  readonly cut?: 'call' | 'text'
  /** No session with tools: a question without tools and without reasoning, or requests that are refused. */
  readonly asks?: 'plainly' | 'in vain'
}

export const SCENARIOS: readonly Scenario[] = [
  { name: 'session' },
  { name: 'cut-call', cut: 'call' },
  { name: 'cut-text', cut: 'text' },
  { name: 'plain', asks: 'plainly' },
  { name: 'errors', asks: 'in vain' },
]

/** What agents and programs that know nothing else play. */
export const SESSIONS: readonly Scenario['name'][] = ['session', 'cut-call', 'cut-text']

export const PROMPT = 'Read notes.txt, then write first.txt and second.txt.'

/** What stands in the work folder at the beginning. */
export const NOTES = { 'notes.txt': 'The word is “plum”.\n' } as const

/** What stands there at the end, as it is. */
export const WRITTEN = {
  'first.txt': 'plum & "jam"\n\tsüß — 漢字 \\n 100%\n',
  'second.txt': "it's <b>plum</b> again: {“done”: true}\n",
} as const

/** What the call of a broken answer would write. */
export const HALF = { path: 'half.txt', content: `${'Never to be written. '.repeat(8)}\n` } as const

/** What is thought before each answer. */
export const THOUGHTS = [
  'First I look at the notes, and write the first file at once.\n\nBoth are needed.',
  'The second file is missing.',
  'Everything is there.',
] as const

export const BROKEN_TEXT = 'I shall look at the notes now, and then there will be more to say about them.'
export const FINAL_TEXT = 'Both files are written: plum it is.'
/** What the plain question is answered with, whole and then streamed, on lines that begin so. */
export const PLAIN = ['whole', 'streamed'] as const
/** The statuses of a wrong key and of a limit at the upstream, on lines that begin so. */
export const REFUSALS = { key: 401, rate: 429 } as const
/** What is said where no tools are declared: to make a title, or a summary. */
export const ASIDE = 'Plums'
