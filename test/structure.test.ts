import { globSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, normalize } from 'node:path'
import { describe, expect, test } from 'vitest'
import { WRITERS } from '../src/egress/index.ts'
import type { Writer } from '../src/egress/writer.ts'
import { READERS } from '../src/ingress/index.ts'
import type { Reader } from '../src/ingress/reader.ts'

const FILES = globSync('src/**/*.ts').sort()

interface Import {
  readonly file: string
  readonly target: string
  /** Whether the import is erased before it is resolved, because it imports only types. */
  readonly typeOnly: boolean
}

const IMPORT = /^(?:import|export)\s+(type\s)?(?:[^'"]*?\sfrom\s+)?['"]([^'"]+)['"]|\bimport\(['"]([^'"]+)['"]\)/gm

/** Returns the imports of these files, including dynamic ones. */
const importsOf = (files: readonly string[]): readonly Import[] =>
  files.flatMap(file =>
    [...readFileSync(file, 'utf8').matchAll(IMPORT)].map(([, type, named, dynamic]) => ({
      file,
      target: (named ?? dynamic)!,
      typeOnly: type !== undefined,
    })),
  )

const IMPORTS = importsOf(FILES)

const isOwn = ({ target }: Import): boolean => target.startsWith('.')
const fileOf = ({ file, target }: Import): string => normalize(join(dirname(file), target))
const say = ({ file, target }: Import): string => `${file} imports ${target}`

/** Folders of `ingress` and `egress` that several formats share. None of them is a format. */
const SHARED: ReadonlySet<string> = new Set(['errors', 'media', 'sanitize', 'transport', 'usage'])

/** Returns the first folder below `src`, and for readers and writers the format's folder below that. */
function moduleOf(path: string): { module: string; format: string | undefined } {
  const [, module = '', folder = '', file] = path.split('/')
  return { module, format: file === undefined || SHARED.has(folder) ? undefined : folder }
}

/**
 * Returns the groups of files that all import each other, directly or indirectly (Tarjan's strongly connected
 * components).
 */
function circles(all: readonly Import[]): string[][] {
  const imports = Map.groupBy(all.filter(isOwn), ({ file }) => file)
  const found: string[][] = []
  const numbers = new Map<string, number>()
  const path: string[] = []
  /** Returns the lowest number of a file on the path that starts at `file`. */
  const visit = (file: string): number => {
    const number = numbers.size
    numbers.set(file, number)
    const place = path.push(file) - 1
    let lowest = number
    for (const target of (imports.get(file) ?? []).map(fileOf)) {
      if (!numbers.has(target)) lowest = Math.min(lowest, visit(target))
      else if (path.includes(target)) lowest = Math.min(lowest, numbers.get(target)!)
    }
    if (lowest === number) {
      const circle = path.splice(place)
      if (circle.length > 1) found.push(circle.sort())
    }
    return lowest
  }
  for (const file of imports.keys()) if (!numbers.has(file)) visit(file)
  return found
}

/** Folders of `src`, lowest first. A file imports from its own folder and from those before it. */
const ROOMS = [
  ...['canonical', 'formats', 'ingress', 'egress', 'config', 'store', 'accounts'],
  ...['upstreams', 'voice', 'kit', 'gateway', 'operators', 'server', 'commands'],
]

/** Files beside the folders, which all folders may import. */
const COMMON: ReadonlySet<string> = new Set(['log.ts', 'outage.ts', 'root.ts', 'version.ts'])

describe('imports', () => {
  test('run downwards only, types too: every folder has its floor', () => {
    expect(ROOMS.length).toBeLessThanOrEqual(14)
    expect(
      readdirSync('src', { withFileTypes: true }).flatMap(entry => (entry.isDirectory() ? [entry.name] : [])),
    ).toEqual([...ROOMS].sort())
    const faults = IMPORTS.filter(isOwn).filter(one => {
      const from = moduleOf(one.file).module
      const to = moduleOf(fileOf(one)).module
      if (from === 'main.ts' || COMMON.has(to)) return false
      return COMMON.has(from) || ROOMS.indexOf(to) === -1 || ROOMS.indexOf(to) > ROOMS.indexOf(from)
    })
    expect(faults.map(say)).toEqual([])
  })

  test('the hub knows no spokes', () => {
    const faults = IMPORTS.filter(({ file }) => file.startsWith('src/canonical/')).filter(
      one => !isOwn(one) || !fileOf(one).startsWith('src/canonical/'),
    )
    expect(faults.map(say)).toEqual([])
  })

  test('readers and writers know the hub and their own folder, and of the other side at most their wire types', () => {
    const faults = IMPORTS.filter(isOwn).filter(one => {
      const from = moduleOf(one.file)
      if (from.module !== 'ingress' && from.module !== 'egress') return false
      const to = moduleOf(fileOf(one))
      if (to.module === 'canonical') return false
      if (to.module === from.module)
        return from.format !== undefined && to.format !== undefined && to.format !== from.format
      if (fileOf(one) === `src/formats/settings/${from.format}.ts`) return false
      // Shared folders know the flags that several formats have.
      if (from.module === 'egress' && fileOf(one) === `src/formats/dialects/${from.format ?? 'shared-flags'}.ts`)
        return false
      const wire = `src/ingress/${from.format}/wire.ts`
      return !(from.module === 'egress' && one.typeOnly && fileOf(one) === wire)
    })
    expect(faults.filter(({ file }) => !/\/(ingress|egress)\/index\.ts$/.test(file)).map(say)).toEqual([])
  })

  test('only the gateway and the library reach into readers and writers; main, commands and kit through their lists', () => {
    const lists = [
      'src/ingress/index.ts',
      'src/egress/index.ts',
      'src/egress/defaults.ts',
      'src/ingress/transport/event-parser.ts',
      'src/ingress/transport/sse.ts',
      'src/ingress/transport/frames.ts',
      'src/egress/transport/sse.ts',
      'src/egress/transport/framings.ts',
    ]
    const faults = IMPORTS.filter(isOwn).filter(one => {
      const { module } = moduleOf(one.file)
      const to = moduleOf(fileOf(one)).module
      if ((to !== 'ingress' && to !== 'egress') || module === 'ingress' || module === 'egress') return false
      if (/^src\/(gateway\/|kit\/library\/|upstreams\/channel\/|operators\/admin\/administration\.ts$)/.test(one.file))
        return false
      const mayList = /^src\/(main\.ts|commands\/|kit\/)/.test(one.file)
      return !(one.typeOnly || (mayList && lists.includes(fileOf(one))))
    })
    expect(faults.map(say)).toEqual([])
  })

  test('what is stored is reached through one interface', () => {
    const faults = IMPORTS.filter(isOwn).filter(
      one => /^src\/gateway\/stored\//.test(fileOf(one)) && !one.file.startsWith('src/gateway/stored/'),
    )
    expect(faults.filter(one => fileOf(one) !== 'src/gateway/stored/index.ts').map(say)).toEqual([])
  })

  test('what joins processes knows nothing of requests', () => {
    const faults = IMPORTS.filter(isOwn).filter(
      one =>
        one.file.startsWith('src/store/cluster/') &&
        !/^src\/(store\/cluster\/|canonical\/|log\.ts$|outage\.ts$)/.test(fileOf(one)),
    )
    expect(faults.map(say)).toEqual([])
  })

  test('the conformance kit judges with code of its own', () => {
    const faults = IMPORTS.filter(isOwn).filter(
      one =>
        one.file.startsWith('src/kit/conformance/') &&
        !/^src\/(kit\/conformance\/|root\.ts$|version\.ts$)/.test(fileOf(one)),
    )
    expect(faults.map(say)).toEqual([])
  })

  test('each dependency is imported in one place', () => {
    const places: { readonly [name: string]: RegExp } = {
      express: /^src\/server\/(app|admin)\.ts$/,
      undici: /^src\/upstreams\/channel\/(fetch|origin-pool)\.ts$/,
      '@noble/hashes': /^src\/egress\/sanitize\/sha256\.ts$/,
      busboy: /^src\/ingress\/transport\/form\.ts$/,
      ws: /^src\/(server\/(sockets|socket|voice-sessions)|voice\/(dial|closing|session-socket|formats\/realtime\/first-settings)|gateway\/realtime\/open-voice-session|gateway\/capture\/recorded-socket|kit\/(conformance\/sockets\/socket|recordings\/(record|replay)-sockets))\.ts$/,
      'gpt-tokenizer': /^src\/gateway\/(counting\/tokens|token-inputs)\.ts$/,
      jose: /^src\/upstreams\/credentials\/signed-jwt\.ts$/,
      '@smithy/eventstream-codec': /^src\/ingress\/transport\/frames\.ts$/,
      '@smithy/signature-v4': /^src\/upstreams\/credentials\/aws\.ts$/,
      'ipaddr.js': /^src\/(upstreams\/channel\/reachable|config\/ranges)\.ts$/,
      '@echogarden/fvad-wasm': /^src\/voice\/cascade\/vad\.ts$/,
      'wasm-media-encoders': /^src\/gateway\/speech\/encoding\.ts$/,
      'openid-client': /^src\/operators\/sign-in\/oidc\.ts$/,
      kysely: /^src\/store\//,
      pg: /^src\/store\//,
      '@redis/client': /^src\/store\/cluster\//,
      'prom-client': /^src\/gateway\/metrics\//,
      '@opentelemetry/api': /^src\/gateway\/metrics\//,
      '@opentelemetry/sdk-trace-base': /^src\/gateway\/metrics\//,
      '@opentelemetry/exporter-trace-otlp-http': /^src\/gateway\/metrics\//,
      'proxy-addr': /^src\/gateway\/proxies\//,
      '@pydantic/genai-prices': /^src\/upstreams\/catalogue\//,
      'eventsource-parser': /^src\/ingress\/transport\/sse\.ts$/,
      'fast-json-stringify': /^src\/egress\/chat\/model-list\.ts$/,
      valibot:
        /^src\/(config\/.*|operators\/admin\/.*|gateway\/capture\/shapes\.ts|kit\/recordings\/(recording|file|foreign\/(har|vcr|aimock|import-file))\.ts|ingress\/errors\/validation-error\.ts|ingress\/[^/]+\/wire\.ts)$/,
      '@valibot/to-json-schema': /^src\/(commands\/check|operators\/admin\/.*)\.ts$/,
      yaml: /^src\/(config\/|kit\/conformance\/|kit\/recordings\/foreign\/parse\.ts$)/,
      ajv: /^src\/kit\/conformance\/schema\.ts$/,
      pino: /^src\/server\/log\.ts$/,
      commander: /^src\/(main\.ts|commands\/)/,
    }
    const declared = Object.keys(JSON.parse(readFileSync('package.json', 'utf8')).dependencies)
    expect(declared.filter(name => places[name] === undefined)).toEqual([])
    const foreign = IMPORTS.filter(one => !isOwn(one) && !one.target.startsWith('node:'))
    /** Returns the name of a package: `ajv` for `ajv/dist/2020.js`. */
    const nameOf = (target: string): string =>
      target
        .split('/')
        .slice(0, target.startsWith('@') ? 2 : 1)
        .join('/')
    expect(foreign.filter(({ file, target }) => places[nameOf(target)]?.test(file) !== true).map(say)).toEqual([])
  })

  test('no files import each other in a circle, neither values nor types', () => {
    expect(circles(IMPORTS)).toEqual([])
  })

  test('name files as they are', () => {
    expect(
      IMPORTS.filter(isOwn)
        .filter(one => !FILES.includes(fileOf(one)))
        .map(say),
    ).toEqual([])
  })
})

test('the gateway names no format, but where it stores responses and keeps videos', () => {
  /** Names of formats that are also a kind of work or a field of canonical requests. */
  const others = ['speech', 'messages']
  const formats = [...new Set([...Object.keys(READERS), ...Object.keys(WRITERS)])]
  const quoted = new RegExp(`'(${formats.filter(one => !others.includes(one)).join('|')})'`, 'g')
  const named = (folder: string): string[] =>
    FILES.filter(file => file.startsWith(folder)).flatMap(file =>
      [...readFileSync(file, 'utf8').matchAll(quoted)].map(([found]) => `${file}: ${found}`),
    )
  // Metrics have OpenTelemetry's operation names, which are different words.
  expect(named('src/gateway/').filter(one => !one.startsWith('src/gateway/metrics/'))).toEqual([
    "src/gateway/stored/interactions-format.ts: 'interactions'",
    "src/gateway/stored/items.ts: 'responses'",
    "src/gateway/tasks/index.ts: 'videos'",
  ])
  const into = IMPORTS.filter(isOwn).filter(
    one => one.file.startsWith('src/gateway/') && !one.file.startsWith('src/gateway/tasks/'),
  )
  expect(into.filter(one => /^src\/(in|e)gress\//.test(fileOf(one)) && moduleOf(fileOf(one)).format).map(say)).toEqual(
    [],
  )
})

test('files are small: the median at most 100 lines, nine of ten at most 250, none over 400', () => {
  const sizes = FILES.map(file => ({ file, lines: readFileSync(file, 'utf8').split('\n').length - 1 }))
  sizes.sort((a, b) => a.lines - b.lines)
  expect(sizes[Math.floor(sizes.length / 2)]!.lines).toBeLessThanOrEqual(100)
  expect(sizes[Math.floor(sizes.length * 0.9)]!.lines).toBeLessThanOrEqual(250)
  expect(sizes.filter(({ lines }) => lines > 400)).toEqual([])
})

describe('the console', () => {
  const pages = globSync('console/{src,building}/**/*.{ts,tsx,css}').sort()
  const imports = importsOf(globSync('console/src/**/*.{ts,tsx}').sort())

  test('no files of the console import each other in a circle', () => {
    expect(circles(imports)).toEqual([])
  })

  test('only the app imports the list of page components, so that links and shortcuts load no page', () => {
    const views = imports.filter(isOwn).filter(one => fileOf(one) === 'console/src/views.ts')
    expect(views.map(({ file }) => file)).toEqual(['console/src/app.tsx'])
  })

  test('its pages import types and the rows of formats from the server, and only the packages listed here', () => {
    const known = ['preact', 'preact/hooks', '@preact/signals', 'preact-iso', 'uplot', 'uplot/dist/uPlot.min.css']
    const faults = imports.filter(one => {
      const path = isOwn(one) ? fileOf(one) : one.target
      const isKnown = path.startsWith('console/src/') || path === 'src/formats/rows/index.ts' || known.includes(path)
      return !(isKnown || one.typeOnly)
    })
    expect(faults.map(say)).toEqual([])
  })

  test('its pages use nothing of Node, whose types its check knows for the rows of formats', () => {
    const ofNode = /\b(?:Buffer|process|global|setImmediate)\b\.?[.(]/
    const files = pages.filter(file => file.startsWith('console/src/') && !file.endsWith('.css'))
    expect(files.filter(file => ofNode.test(readFileSync(file, 'utf8')))).toEqual([])
  })

  test('nothing in it writes markup, or style that the policy refuses', () => {
    const markup = /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\bstyle="/
    expect(pages.filter(file => markup.test(readFileSync(file, 'utf8')))).toEqual([])
  })

  test('its files are small, and both languages have the same', () => {
    const sizes = pages.map(file => readFileSync(file, 'utf8').split('\n').length - 1).sort((a, b) => a - b)
    expect(sizes[Math.floor(sizes.length / 2)]!).toBeLessThanOrEqual(100)
    expect(sizes.at(-1)!).toBeLessThanOrEqual(400)
    const texts = (language: string) => readdirSync(`console/src/i18n/${language}`).sort()
    expect(texts('zh')).toEqual(texts('en'))
  })
})

test('no list is handed over on the stack, which holds less than a body can', () => {
  const spread = /\.(push|unshift|splice)\((?:[^(){}[\]]*,)?\s*\.\.\./
  const faults = FILES.filter(file => file !== 'src/canonical/lists.ts').filter(file =>
    spread.test(readFileSync(file, 'utf8')),
  )
  expect(faults).toEqual([])
})

/** Collections of a module that grow while the process runs, each with its bound. */
const BOUNDED_COLLECTIONS: { readonly [name: string]: string } = {
  'src/egress/transport/frames.ts headers': 'MAX_NAMES',
  'src/gateway/model-paths.ts pathsByFormat': 'one entry per format',
  'src/kit/conformance/schema.ts validators': 'one entry per schema file',
  'src/voice/audio/low-pass.ts banks': 'MAX_BANKS',
  'src/voice/cascade/sentences.ts segmenters': 'MAX_SEGMENTERS',
}

/**
 * Matches a module's constant that is a collection or an instance of a class. The built-in classes below only hold
 * constants.
 */
const INSTANCE = /^(?:export )?const (\w+)(?:: [^=]+)? = (?:new (\w+)|\[\])/gm
const CONSTANT = /^(Weak(Map|Set)|RegExp|Text(De|En)coder|Intl|URL|Problem|\w*Error|\w+Array)$/
const ADDS = 'push|unshift|splice|set|add|getOrInsert\\w*'

test('no module has a collection that grows with requests', () => {
  const faults = FILES.flatMap(file => {
    const text = readFileSync(file, 'utf8')
    return [...text.matchAll(INSTANCE)].flatMap(([, name, type = 'Array']) => {
      if (CONSTANT.test(type) && type !== 'Array') return []
      if (type !== 'Map' && type !== 'Set' && type !== 'Array') return [`${file} ${name}`]
      return new RegExp(`\\b${name}\\.(${ADDS})\\(|\\bputNewest\\(${name},`).test(text) ? [`${file} ${name}`] : []
    })
  })
  expect(faults.sort()).toEqual(Object.keys(BOUNDED_COLLECTIONS).sort())
})

const foldersOf = (side: string): string[] =>
  readdirSync(`src/${side}`, { withFileTypes: true })
    .filter(entry => entry.isDirectory() && !SHARED.has(entry.name))
    .map(({ name }) => name)
    .sort()

describe('formats', () => {
  test('every folder is in its list, every row of a list has its folder', () => {
    expect(foldersOf('ingress')).toEqual(Object.keys(READERS).sort())
    expect(foldersOf('egress')).toEqual(Object.keys(WRITERS).sort())
  })

  test('what is read of a request is written of its answer, and the other way round', () => {
    const faults = new Set([...foldersOf('ingress'), ...foldersOf('egress')]).values().flatMap(format => {
      const reads = (what: keyof Reader) => READERS[format]?.[what] !== undefined
      const writes = (what: keyof Writer) => WRITERS[format]?.[what] !== undefined
      return [
        reads('request') && !writes('result') && `${format}: requests are read, results never written`,
        reads('request') && !writes('error') && `${format}: requests are read, errors never written`,
        reads('request') && !FILES.includes(`src/ingress/${format}/wire.ts`) && `${format}: requests without a schema`,
        writes('request') && !reads('result') && `${format}: requests are written, results never read`,
        writes('request') && !reads('error') && `${format}: requests are written, errors never read`,
        writes('events') !== reads('events') && `${format}: events go one way only`,
      ].filter(fault => fault !== false)
    })
    expect([...faults]).toEqual([])
  })
})

test('every fixture belongs to a format and is of a kind that tests use', () => {
  const formats = new Set([...Object.keys(READERS), ...Object.keys(WRITERS)])
  const known = /^[a-z0-9-]+\.(request\.json|result\.(json|wav|mp3|pcm|txt|srt|vtt)|error\.json|events\.sse)$/
  const golden = /^([a-z0-9-]+\.(?:request|result|error|events))\.to-([a-z-]+)\.(json|sse)$/
  // Files of the built-in provider: videos by size and length, thumbnails by size, a voice session's answer.
  const media = /^fixtures\/(videos\/\d+x\d+(-\d+s\.mp4|\.webp)|realtime\/hello\.pcm)$/
  const faults = globSync('fixtures/!(demo)/*').filter(path => {
    if (media.test(path)) return false
    const name = basename(path)
    const match = golden.exec(name)
    if (!formats.has(basename(dirname(path)))) return true
    if (match === null) return !known.test(name)
    return !formats.has(match[2]!) || globSync(`${dirname(path)}/${match[1]}.{json,sse}`).length === 0
  })
  expect(faults).toEqual([])
})

test('a test in a module of the source that has the name of one source file lies in its folder', () => {
  const units = FILES.map(file => file.slice('src/'.length, -'.ts'.length).replace(/\/index$/, ''))
  const rooms = new Set(units.map(unit => unit.split('/')[0]))
  const faults = globSync('test/*/**/*.test.ts')
    .map(file => file.slice('test/'.length, -'.test.ts'.length))
    .filter(name => {
      const module = name.split('/')[0]!
      // Tests of voice sessions are named after the behaviour of a session.
      const [folder, last] = name.split('/').slice(-2)
      if (!rooms.has(module) || module === 'voice' || folder === last || units.includes(name)) return false
      return units.filter(unit => basename(unit) === basename(name)).length === 1
    })
  expect(faults).toEqual([])
})
