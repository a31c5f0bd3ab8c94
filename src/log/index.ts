export { LogOnce } from './log-once.ts'

/** Where log lines go; a pino logger is one. */
export interface Log {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}
