/** The output of the process; commands write through it, so that tests can read it. */
export interface Terminal {
  out(text: string): void
  fault(text: string): void
}

export const TERMINAL: Terminal = {
  out: text => process.stdout.write(`${text}\n`),
  fault: text => process.stderr.write(`${text}\n`),
}

/** How the command line is called: under npm, `interlingua` may not be on the path. */
export const program = (): string => (process.env['npm_lifecycle_event'] === 'start' ? 'npm start --' : 'interlingua')

/** Wrong arguments; reported like any other fault of the command line. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Exit codes: success, failure, wrong usage. */
export const DONE = 0
export const FAILED = 1
export const USAGE = 2
