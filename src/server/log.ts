import { write, writeSync } from 'node:fs'
import { pino } from 'pino'
import type { Log } from '../gateway/index.ts'

/** A log that is written in batches, so that no request waits for it. */
export interface OpenLog extends Log {
  /** Writes out all pending lines; settles when that is done, or cannot be. */
  flush(): Promise<void>
  /** Writes lines of another process, each with its end. */
  pass(lines: string): void
}

/** Lines are written when there are so many characters of them, or after so many milliseconds. */
const BATCH_SIZE = 64 * 1024
const EVERY = 500
/** Characters that are held where nothing can be written, as on a full disk; further lines are lost. */
const MOST_HELD = 4 * 1024 * 1024

/** Opens the log on standard output, or on another file descriptor. */
export function openLog(descriptor = 1): OpenLog {
  const lines = new Batch(descriptor)
  const log = pino({ base: null }, lines)
  setInterval(() => lines.pass(), EVERY).unref()
  process.once('exit', () => lines.last())
  return {
    info: (fields, message) => lines.write(lineOf(fields, message)),
    warn: (fields, message) => log.warn(fields, message),
    error: (fields, message) => log.error(fields, message),
    flush: () => lines.flush(),
    pass: text => lines.write(text),
  }
}

/**
 * A line in pino's format, of fields that are plain values. There is one for each request: made here it costs a third
 * of what pino takes.
 */
function lineOf(fields: object, message: string): string {
  const text = JSON.stringify(fields)
  const named = text === '{}' ? '' : `${text.slice(1, -1)},`
  return `{"level":${INFO},"time":${Date.now()},${named}"msg":${JSON.stringify(message)}}\n`
}

const INFO = pino.levels.values['info']!

/**
 * Collects lines and writes many at once. Pino's own destination copies all it holds for every line, and tries for ever
 * to write its last ones where nothing can be written, so that the process never ends.
 */
class Batch {
  private readonly descriptor: number
  private lines: string[] = []
  private length = 0
  /** The text being written. */
  private text: Buffer | undefined
  /** Settles when all is written, or cannot be. */
  private waiting: PromiseWithResolvers<void> | undefined
  /** The fault was already reported on standard error. */
  private reported = false

  constructor(descriptor: number) {
    this.descriptor = descriptor
  }

  write(line: string): void {
    if (this.length > MOST_HELD) return
    this.lines.push(line)
    this.length += line.length
    if (this.length >= BATCH_SIZE) this.pass()
  }

  pass(): void {
    if (this.text !== undefined || this.lines.length === 0) return
    this.text = this.taken()
    this.send()
  }

  flush(): Promise<void> {
    this.pass()
    if (this.text === undefined) return Promise.resolve()
    this.waiting ??= Promise.withResolvers()
    return this.waiting.promise
  }

  /** The process ends: writes what is left synchronously. */
  last(): void {
    try {
      writeSync(this.descriptor, Buffer.concat([this.text ?? Buffer.alloc(0), this.taken()]))
    } catch {
      // Nothing can be written, not even this fault.
    }
  }

  private taken(): Buffer {
    const text = Buffer.from(this.lines.join(''))
    this.lines = []
    this.length = 0
    return text
  }

  private readonly send = (): void => write(this.descriptor, this.text!, this.wrote)

  private readonly wrote = (fault: NodeJS.ErrnoException | null, bytes: number): void => {
    if (fault !== null) {
      this.failed(fault)
      return
    }
    this.reported = false
    const rest = this.text!.subarray(bytes)
    this.text = rest.length === 0 ? undefined : rest
    if (this.text !== undefined) this.send()
    else if (this.waiting !== undefined && this.lines.length > 0) this.pass()
    else this.settle()
  }

  /** A slow reader is no fault; any other fault is reported once on standard error, until a write succeeds. */
  private failed(fault: NodeJS.ErrnoException): void {
    setTimeout(this.send, EVERY).unref()
    if (fault.code === 'EAGAIN') return
    if (!this.reported) process.stderr.write(`the log cannot be written: ${fault.message}\n`)
    this.reported = true
    this.settle()
  }

  private settle(): void {
    this.waiting?.resolve()
    this.waiting = undefined
  }
}
