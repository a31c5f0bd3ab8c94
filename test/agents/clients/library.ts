import { join } from 'node:path'
import { PROMPT, SCENARIOS } from '../scenarios.ts'
import type { Client, Command } from './client.ts'
import { BUDGETED, thinkingOf } from './thinking.ts'

/* Libraries have no agent of their own: each is run by a short program with two tools (../programs). */

interface Library extends Pick<Client, 'name' | 'package' | 'model' | 'scenarios'> {
  /** The program's command line, with what is installed. */
  run(installed: string): Command['run']
  /** What it has to be told beside what every program is. */
  env?(installed: string): NonNullable<Command['env']>
  /** The name under which it offers a tool; the same where there is none. */
  nameOf?(tool: string): string
}

/** Every scenario. */
export const ALL = SCENARIOS.map(({ name }) => name)

/** A file of the programs that run libraries. */
export const programAt = (name: string): string => join(import.meta.dirname, '../programs', name)

/** The client that a library and its program are. */
export const library = ({ run, env = () => ({}), nameOf = tool => tool, ...names }: Library): Client => ({
  ...names,
  modelAt: { 'messages-budget': BUDGETED },
  tools: [nameOf('read_file'), nameOf('write_file')],
  read: path => ({ tool: nameOf('read_file'), arguments: { path } }),
  write: (path, content) => ({ tool: nameOf('write_file'), arguments: { path, content } }),
  command: ({ address, key, model, scenario }, installed) => ({
    run: run(installed),
    env: {
      ...env(installed),
      IL_SCENARIO: scenario,
      IL_ADDRESS: address,
      IL_KEY: key,
      IL_MODEL: model,
      IL_PROMPT: PROMPT,
      IL_THINKING: JSON.stringify(thinkingOf(model)),
    },
  }),
})
