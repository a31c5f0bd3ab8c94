import { readFileSync } from 'node:fs'
import { suggestion } from '../config/faults.ts'
import { type Kind, KNOWN_FORMATS, translate } from '../kit/translate.ts'
import { type Terminal, UsageError } from './outcome.ts'

export interface TranslateOptions {
  readonly from: string
  readonly to: string
  readonly kind: Kind
  readonly model?: string
  /** File with the request that the value answers. */
  readonly asked?: string
}

/**
 * `interlingua translate --from F --to G [FILE]`: prints `{wire, losses}`. The loss paths of a request refer to its
 * body.
 */
export function translateCommand(file: string | undefined, options: TranslateOptions, terminal: Terminal): void {
  for (const format of [options.from, options.to])
    if (!KNOWN_FORMATS.includes(format))
      throw new UsageError(
        `unknown format '${format}'${suggestion(format, KNOWN_FORMATS)} (${KNOWN_FORMATS.join(', ')})`,
      )
  const { asked: requestFile, ...rest } = options
  const text = readFileSync(file === undefined || file === '-' ? 0 : file, 'utf8')
  const request = requestFile === undefined ? {} : { requestText: readFileSync(requestFile, 'utf8') }
  const { wire, losses, bodyPath = path => path } = translate(text, { ...rest, ...request })
  const located = losses.map(loss => ({ ...loss, path: bodyPath(loss.path) }))
  terminal.out(JSON.stringify({ wire, losses: located }, null, 2))
}
