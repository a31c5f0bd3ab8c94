/** Formats of conversations that clients speak. */
export const FORMATS = ['chat', 'responses', 'messages', 'contents'] as const
export type Format = (typeof FORMATS)[number]

export type Language = 'python' | 'typescript'

/** Values that settings are filled in with. */
export interface Values {
  /** Address of the gateway without a slash at the end: `https://ai.example.com`. */
  readonly base: string
  /** Secret of the key, or a placeholder. */
  readonly secret: string
  readonly model: string
  /** Format to use, one of the client's formats. */
  readonly format: Format
  readonly language: Language
}

/** One text to paste into a terminal or a file. */
export interface Snippet {
  /** File that the text belongs in. Undefined for a terminal. */
  readonly file?: string
  readonly syntax: 'shell' | 'json' | 'toml' | Language
  /** Purpose of the text, for clients with several. */
  readonly role?: 'install' | 'run' | 'once' | 'always' | 'config'
  readonly text: string
}

export type ClientGroup = 'agents' | 'libraries' | 'terminal'

/** One client with its settings. */
export interface Client {
  readonly id: string
  readonly name: string
  readonly group: ClientGroup
  /** Formats it can speak, with its default first. */
  readonly formats: readonly Format[]
  /** Languages of a library. Undefined for programs. */
  readonly languages?: readonly Language[]
  /** Key of a string with a note about the client. */
  readonly note?: (values: Values) => 'https' | undefined
  write(values: Values): readonly Snippet[]
}
