/** The process's output. Commands write through this interface, so that tests can capture it. */
export interface Terminal {
  out(text: string): void
  fault(text: string): void
}

export const TERMINAL: Terminal = {
  out: text => process.stdout.write(`${text}\n`),
  fault: text => process.stderr.write(`${text}\n`),
}

/** Returns the command that runs this program. Under npm, `interlingua` may not be on the PATH. */
export const program = (): string => (process.env['npm_lifecycle_event'] === 'start' ? 'npm start --' : 'interlingua')

/** Thrown for wrong arguments. The process exits with code `USAGE`. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Thrown by a command that found and printed a fault. */
export class Unhealthy extends Error {}

/** Exit codes: success, failure, wrong usage. */
export const DONE = 0
export const FAILED = 1
export const USAGE = 2
