import { join } from 'node:path'
import { PROMPT } from '../scenarios.ts'
import type { Client, Command } from './client.ts'
import { BUDGETED, thinkingOf } from './thinking.ts'

/* Libraries have no agent of their own: each is run by a short program with two tools (../programs). */

interface Library extends Pick<Client, 'name' | 'package' | 'model'> {
  /** The file in `../programs`. */
  readonly program: string
  readonly args: readonly string[]
  /** What runs the program, of what is installed. */
  interpreter(installed: string): string
  /** What it has to be told beside what every program is. */
  env(installed: string): NonNullable<Command['env']>
}

const PROGRAMS = join(import.meta.dirname, '../programs')

/** The client that a library and its program are. */
export const library = ({ program, args, interpreter, env, ...names }: Library): Client => ({
  ...names,
  modelAt: { 'messages-budget': BUDGETED },
  tools: ['read_file', 'write_file'],
  read: path => ({ tool: 'read_file', arguments: { path } }),
  write: (path, content) => ({ tool: 'write_file', arguments: { path, content } }),
  command: ({ address, key, model }, installed) => ({
    run: [interpreter(installed), join(PROGRAMS, program), ...args],
    env: {
      ...env(installed),
      IL_ADDRESS: address,
      IL_KEY: key,
      IL_MODEL: model,
      IL_PROMPT: PROMPT,
      IL_THINKING: JSON.stringify(thinkingOf(model)),
    },
  }),
})
