/** What the process says and how it ends; commands write through it, so that tests can read along. */
export interface Terminal {
  out(text: string): void
  fault(text: string): void
}

export const TERMINAL: Terminal = {
  out: text => process.stdout.write(`${text}\n`),
  fault: text => process.stderr.write(`${text}\n`),
}

/** How a command line begins here: where npm started the gateway, nothing says that `interlingua` is on the path. */
export const program = (): string => (process.env['npm_lifecycle_event'] === 'start' ? 'npm start --' : 'interlingua')

/** What was asked for cannot be asked for; told like any other slip on the command line. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Exit codes: all went well, what was asked for failed, what was asked for is no command. */
export const DONE = 0
export const FAILED = 1
export const USAGE = 2
