/** The formats of conversations, each of which has its own clients. */
export const FORMATS = ['chat', 'responses', 'messages', 'contents'] as const
export type Format = (typeof FORMATS)[number]

export type Language = 'python' | 'typescript'

/** What settings are filled in with. */
export interface Values {
  /** Where the gateway is, without a slash at the end: `https://ai.example.com`. */
  readonly base: string
  /** The secret of the key, or what stands for it. */
  readonly secret: string
  readonly model: string
  /** What the client speaks: one of its own formats. */
  readonly format: Format
  readonly language: Language
}

/** One text to paste: into a terminal, or into a file. */
export interface Snippet {
  /** The file it belongs into; what belongs into a terminal has none. */
  readonly file?: string
  readonly syntax: 'shell' | 'json' | 'toml' | Language
  /** What it does, where several are needed or one of several is. */
  readonly role?: 'install' | 'run' | 'once' | 'always' | 'config'
  readonly text: string
}

export type ClientGroup = 'agents' | 'libraries' | 'terminal'

/** One row of the list of clients. */
export interface Client {
  readonly id: string
  readonly name: string
  readonly group: ClientGroup
  /** What it can speak, the usual one first. */
  readonly formats: readonly Format[]
  /** The languages there is one in; none for programs. */
  readonly languages?: readonly Language[]
  /** What an operator of the client should know; a name of a text. */
  readonly note?: (values: Values) => 'https' | undefined
  write(values: Values): readonly Snippet[]
}
