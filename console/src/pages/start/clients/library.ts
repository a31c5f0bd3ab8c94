import type { Language, Snippet } from './client.ts'

/** Prompt of every example. */
export const PROMPT = 'Say hello in one sentence.'

const INSTALLS: { readonly [L in Language]: string } = { python: 'pip install', typescript: 'npm install' }
const FILES: { readonly [L in Language]: string } = { python: 'hello.py', typescript: 'hello.ts' }

/** Snippets of a library: the installation of its packages and an example program. */
export const program = (language: Language, packages: readonly string[], text: string): readonly Snippet[] => [
  { role: 'install', syntax: 'shell', text: `${INSTALLS[language]} ${packages.join(' ')}\n` },
  { role: 'run', file: FILES[language], syntax: language, text },
]
