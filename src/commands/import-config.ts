import { basename } from 'node:path'
import { IMPORTABLE, importConfig, noteLine } from '../config/imports/index.ts'
import { readTextFile } from '../config/text-file.ts'
import { counted } from './counted.ts'
import { writeNewFile } from './new-file.ts'
import { type Terminal, UsageError } from './outcome.ts'

/**
 * `interlingua import GATEWAY FILE`: converts the config of another gateway. Parts that cannot be converted become
 * comments at the beginning of the new config, and are printed.
 *
 * @param output file for the config, which must not exist yet. Without it, the config is printed.
 */
export function importConfigCommand(
  gateway: string,
  file: string,
  { output }: { readonly output?: string },
  terminal: Terminal,
): void {
  if (!IMPORTABLE.includes(gateway))
    throw new UsageError(`unknown gateway '${gateway}': one of ${IMPORTABLE.join(', ')}`)
  const { text, channels, notes } = importConfig(gateway, readTextFile(file), basename(file))
  if (output === undefined) terminal.out(text.trimEnd())
  else writeNewFile(output, text, 0o600)
  terminal.fault(
    [
      `${counted(channels, 'channel')}${output === undefined ? '' : ` in ${output}`}; not carried over: ${notes.length}`,
      ...(output === undefined ? [] : notes.map(noteLine)),
    ].join('\n'),
  )
}
