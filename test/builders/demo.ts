import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isObject, type JsonObject } from '../../src/canonical/node.ts'
import { ReplayFolders } from '../../src/commands/replay-folders.ts'
import type { Config } from '../../src/config/index.ts'
import { defaultConfig } from '../../src/config/read.ts'
import { readFolder } from '../../src/kit/recordings/folder.ts'
import { openReplay, type Replay } from '../../src/kit/recordings/replay-server.ts'
import { DEMO_FOLDER } from '../../src/upstreams/replay-channels.ts'

/** The demo as a server, and what a gateway without a config gets of it. */
export type Demo = Pick<Replay, 'url' | 'models' | 'misses' | 'close'> & Pick<Config, 'channels' | 'realtime'>

export async function openDemo(): Promise<Demo> {
  const { url, models, misses, close } = await openReplay({ recordings: readFolder(DEMO_FOLDER) })
  const folders = new ReplayFolders(async () => ({ url, models, close }))
  const { channels, realtime } = await folders.applyTo(defaultConfig({}))
  return { url, models, misses, close, channels, realtime }
}

/** One exchange of a format's fixtures, with a whole answer, a streamed answer, or both. */
export interface FixtureCase {
  readonly format: string
  readonly name: string
  readonly request?: JsonObject
  readonly result?: JsonObject
  readonly events?: string
}

/** Reads the fixtures `fixtures/<format>/<name>.{request.json,result.json,events.sse}` of some formats. */
export const fixtureCases = (formats: readonly string[]): readonly FixtureCase[] =>
  formats.flatMap(format => {
    const folder = join('fixtures', format)
    const found = readdirSync(folder).flatMap(file => /^([^.]+)\.(?:request|result|events)\.\w+$/.exec(file)?.[1] ?? [])
    return [...new Set(found)].sort().map(name => {
      const stem = join(folder, name)
      const [request, result] = ['request', 'result'].map(kind => bodyIn(`${stem}.${kind}.json`))
      const events = existsSync(`${stem}.events.sse`) ? readFileSync(`${stem}.events.sse`, 'utf8') : undefined
      return {
        ...{ format, name },
        ...(request === undefined ? {} : { request }),
        ...(result === undefined ? {} : { result }),
        ...(events === undefined ? {} : { events }),
      }
    })
  })

/** Reads the body of a fixture, which may be wrapped in its HTTP request or answer. */
function bodyIn(file: string): JsonObject | undefined {
  if (!existsSync(file)) return undefined
  const value = JSON.parse(readFileSync(file, 'utf8')) as JsonObject
  const inner = 'path' in value || 'status' in value ? value['body'] : undefined
  return isObject(inner) ? inner : value
}
