import { execFile, spawnSync } from 'node:child_process'
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Manifest, packageManifest } from '../../building/package/manifest.ts'
import { buildModules } from '../../building/package/modules.ts'
import { stage } from '../../building/package/pack.ts'

/*
 * The package as npm packs it, without the bundle of the server, and programs that use it in a hostile way: wrong types,
 * modules in any order, no right to write, to connect or to start anything, and hardly any memory.
 */

const ROOT = join(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'hostile-package-'))
const app = join(folder, 'app')
const installed = join(app, 'node_modules/interlingua')
let tarball: Buffer
let packages: readonly string[]

interface Entry {
  readonly path: string
  readonly mode: number
  readonly type: string
  readonly bytes: Buffer
}
let entries: readonly Entry[]

beforeAll(async () => {
  const staging = join(folder, 'staging')
  mkdirSync(staging)
  packages = await buildModules(ROOT, join(folder, 'modules'))
  stage(ROOT, staging, packages, false)
  rmSync(join(staging, 'lib'), { recursive: true, force: true })
  cpSync(join(folder, 'modules'), join(staging, 'lib/modules'), { recursive: true })
  const pack = async (to: string): Promise<Buffer> => {
    mkdirSync(join(folder, to))
    const words = ['pack', '--silent', '--ignore-scripts', '--pack-destination', join(folder, to)]
    const { stdout } = await promisify(execFile)('npm', words, { cwd: staging })
    return readFileSync(join(folder, to, stdout.trim().split('\n').at(-1)!))
  }
  const [first, second] = await Promise.all([pack('first'), pack('second')])
  expect(second.equals(first), 'the same files give another package').toBe(true)
  tarball = first
  entries = entriesOf(gunzipSync(tarball))
  for (const { path, bytes, mode } of entries) {
    const file = join(installed, path)
    mkdirSync(join(file, '..'), { recursive: true })
    writeFileSync(file, bytes, { mode })
  }
  // The packages that it imports, as npm would install them.
  for (const name of packages) {
    mkdirSync(join(app, 'node_modules', name, '..'), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules', name), join(app, 'node_modules', name))
  }
  writeFileSync(join(app, 'package.json'), '{"type":"module"}')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Reads the entries of a tar file (POSIX.1-1988 with pax headers). */
function entriesOf(tar: Buffer): readonly Entry[] {
  const found: Entry[] = []
  let longPath: string | undefined
  const text = (at: number, size: number): string => tar.toString('utf8', at, at + size).replace(/\0.*$/s, '')
  for (let at = 0; at + 512 <= tar.length && tar[at] !== 0; ) {
    const size = Number.parseInt(text(at + 124, 12), 8)
    const type = text(at + 156, 1)
    const bytes = tar.subarray(at + 512, at + 512 + size)
    const prefix = text(at + 345, 155)
    const path = longPath ?? (prefix === '' ? '' : `${prefix}/`) + text(at, 100)
    longPath = type === 'x' ? / path=([^\n]+)\n/.exec(bytes.toString())?.[1] : undefined
    if (type !== 'x' && type !== 'g')
      found.push({ path: path.replace(/^package\//, ''), mode: Number.parseInt(text(at + 100, 8), 8), type, bytes })
    at += 512 + Math.ceil(size / 512) * 512
  }
  return found
}

const isText = ({ path }: Entry): boolean =>
  /\.(?:[cm]?js|d\.ts|json|md|ya?ml|txt|svg|html|sse|jsonl)$|^[A-Z]+$/.test(path)

describe('the files of the package', () => {
  test('are plain files below its folder, none of them twice, also where letters have no case', () => {
    expect(entries.length).toBeGreaterThan(100)
    const odd = entries.filter(({ path, type }) => type !== '0' || /^\/|(?:^|\/)\.\.?(?:\/|$)|\\/.test(path))
    expect(odd.map(({ path }) => path)).toEqual([])
    const folded = entries.map(({ path }) => path.normalize('NFC').toLowerCase())
    expect(folded.filter((path, at) => folded.indexOf(path) !== at)).toEqual([])
  })

  test('have names that every system can write', () => {
    const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i
    const odd = entries.flatMap(({ path }) =>
      path
        .split('/')
        .filter(name => !/^[\w@.+-]+$/.test(name) || /\.$/.test(name) || RESERVED.test(name) || name.length > 100),
    )
    expect(odd).toEqual([])
  })

  test('are UTF-8 without marks and carriage returns, so that programs run on every system', () => {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
    for (const entry of entries.filter(isText)) {
      const text = decoder.decode(entry.bytes)
      expect(text.startsWith('\uFEFF'), entry.path).toBe(false)
      if (/\.[cm]?js$/.test(entry.path)) expect(text.includes('\r'), entry.path).toBe(false)
    }
    const program = entries.find(({ path }) => path === 'bin/interlingua.js')!
    // `env` of BusyBox, as in Alpine Linux, has no `-S`, and takes options for a part of the program’s name.
    expect(program.bytes.toString()).toMatch(/^#!\/usr\/bin\/env node\n/)
    expect(program.mode & 0o111).toBe(0o111)
  })

  test('are not more, and not larger, than a package of this kind needs', () => {
    const sum = (list: readonly Entry[]): number => list.reduce((size, { bytes }) => size + bytes.length, 0)
    expect(tarball.length).toBeLessThan(12_000_000)
    expect(sum(entries)).toBeLessThan(40_000_000)
    const modules = entries.filter(({ path }) => path.startsWith('lib/modules/'))
    expect(sum(modules)).toBeLessThan(4_000_000)
    expect(entries.filter(({ bytes }) => bytes.length > 8_000_000).map(({ path }) => path)).toEqual([])
    expect(
      entries
        .filter(({ path }) => /\.map$|\.test\.|(?:^|\/)test\/|\.tsx?$/.test(path) && !/\.d\.ts$/.test(path))
        .map(({ path }) => path),
    ).toEqual([])
  })
})

describe('the manifest', () => {
  interface Packed {
    readonly exports: { readonly [name: string]: string | { readonly [condition: string]: string } }
    readonly bin: { readonly [name: string]: string }
    readonly dependencies: { readonly [name: string]: string }
    readonly peerDependencies: { readonly [name: string]: string }
    readonly peerDependenciesMeta: object
  }
  const manifest = (): Packed => JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as Packed

  test('has no field twice, and none that runs a program at an installation', () => {
    for (const { path, bytes } of entries.filter(({ path }) => basename(path) === 'package.json')) {
      const text = bytes.toString().trim()
      const parsed = JSON.parse(text)
      expect([JSON.stringify(parsed), JSON.stringify(parsed, null, 2)], `${path} has a field twice`).toContain(text)
    }
    for (const field of ['scripts', 'devDependencies', 'optionalDependencies', 'bundleDependencies', 'gypfile'])
      expect(manifest()).not.toHaveProperty(field)
  })

  test('leads to files that the package has, types before programs', () => {
    const has = (path: string): boolean => entries.some(entry => entry.path === path.replace(/^\.\//, ''))
    const { exports, bin } = manifest()
    for (const [name, target] of Object.entries(exports)) {
      const paths = typeof target === 'string' ? [target] : Object.values(target)
      expect(
        paths.filter(path => !has(path)),
        name,
      ).toEqual([])
      if (typeof target !== 'string') expect(Object.keys(target)).toEqual(['types', 'default'])
    }
    expect(Object.values(bin).filter(path => !has(path))).toEqual([])
  })

  test('names each package once, in one version', () => {
    const { dependencies, peerDependencies, peerDependenciesMeta } = manifest()
    for (const [name, version] of Object.entries(dependencies)) {
      expect(version, name).toMatch(/^\d+\.\d+\.\d+$/)
      expect(peerDependencies, name).not.toHaveProperty(name)
    }
    expect(Object.keys(peerDependenciesMeta).sort()).toEqual(Object.keys(peerDependencies).sort())
  })

  test.each<[string, Manifest]>([
    ['a script', { dependencies: { ws: '1.0.0' }, scripts: { postinstall: 'evil' } }],
    ['a name of the prototype', { dependencies: Object.fromEntries([['ws', '1.0.0']]), constructor: 'x' }],
  ])('made of one with %s has none of the repository', (_, written) => {
    expect(packageManifest(written, ['ws'], false)).not.toHaveProperty('scripts')
    expect(() => packageManifest(written, ['constructor'], false)).toThrow(/must be among the dependencies/)
    expect(() => packageManifest(written, ['__proto__'], false)).toThrow(/must be among the dependencies/)
  })

  test('states one kind of module for each folder', () => {
    const kinds = Object.fromEntries(
      entries.flatMap(({ path, bytes }) =>
        basename(path) === 'package.json' ? [[path, (JSON.parse(bytes.toString()) as { type?: string }).type]] : [],
      ),
    )
    expect(kinds).toMatchObject({
      'package.json': 'module',
      'bin/package.json': 'commonjs',
      'lib/modules/package.json': 'module',
    })
  })
})

/** Runs a program in the folder of the app. */
function ran(program: string, options: readonly string[] = [], input?: string) {
  const { status, signal, stdout, stderr } = spawnSync(
    process.execPath,
    [...options, '--input-type=module', '-e', program],
    {
      cwd: app,
      encoding: 'utf8',
      timeout: 60_000,
      killSignal: 'SIGKILL',
      env: { PATH: process.env['PATH'] },
      ...(input === undefined ? {} : { input }),
    },
  )
  return { status, signal, stdout, stderr }
}

const TRANSLATION = `
import { chat, messages, translate } from 'interlingua'
const body = { model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }] }
const { body: out } = translate(body, { from: messages, to: chat })
console.log(JSON.stringify(out.messages))
`

describe('a program that imports the library', () => {
  test('needs no right to write, to connect, to start a process or to load native code, and ends by itself', () => {
    const rights = ['--permission', `--allow-fs-read=${folder}`, `--allow-fs-read=${ROOT}`]
    const { status, stdout, stderr } = ran(TRANSLATION, rights)
    expect([status, stdout.trim(), stderr.replace(/^.*Warning.*$/gm, '').trim()]).toEqual([
      0,
      '[{"role":"user","content":"Hi"}]',
      '',
    ])
    const forbidden = ran(`import { writeFileSync } from 'node:fs'\nwriteFileSync('x', '')`, rights)
    expect(forbidden.stderr).toContain('ERR_ACCESS_DENIED')
  })

  test('needs hardly any memory, also for a body of a megabyte', () => {
    const program = `${TRANSLATION}
      const large = { ...body, messages: Array.from({ length: 10_000 }, () => ({ role: 'user', content: 'x'.repeat(100) })) }
      translate(large, { from: messages, to: chat })
      console.log(process.memoryUsage().rss < 200e6)`
    const { status, stdout } = ran(program, ['--max-old-space-size=48'])
    expect([status, stdout.trim().split('\n').at(-1)]).toEqual([0, 'true'])
  })

  test('changes nothing of its runtime', () => {
    const { stdout } = ran(`
      const names = () => [Object, Array, String, Map, Set, Promise, RegExp, Function, Symbol, globalThis]
        .flatMap(one => [one, one.prototype ?? {}].flatMap(at => Reflect.ownKeys(at).map(String))).length
      // Node itself adds names with the first use of its HTTP client.
      new Response('')
      const before = names()
      const listeners = process.eventNames().length
      await import('interlingua')
      await import('interlingua/testing')
      console.log(names() - before, process.eventNames().length - listeners)`)
    expect(stdout.trim()).toBe('0 0')
  })

  test('gets an error of its own for wrong types, and no other', () => {
    const { stdout, stderr } = ran(`
      import { chat, contents, messages, responses, translate, readRequest, readAnswer, GatewayError } from 'interlingua'
      const request = readRequest(chat, { model: 'm', messages: [{ role: 'user', content: 'Hi' }] })
      const values = [undefined, null, 0, 'text', true, [], () => 1, Symbol('s'), 1n, NaN, new Date(), new Map(), Object.create(null)]
      const others = []
      for (const from of [chat, contents, messages, responses])
        for (const value of values)
          for (const work of [() => translate(value, { from, to: chat }), () => readRequest(from, value), () => readAnswer(from, value, request)])
            try { work() } catch (thrown) { if (!(thrown instanceof GatewayError)) others.push([String(from?.name), typeof value, thrown.message]) }
      console.log(JSON.stringify(others))`)
    expect([stdout.trim(), stderr]).toEqual(['[]', ''])
  })

  test('may load any of its modules first', () => {
    const modules = globSync('**/*.js', { cwd: join(installed, 'lib/modules') }).sort()
    expect(modules.length).toBeGreaterThan(50)
    const program = `
      import { Worker } from 'node:worker_threads'
      const faults = []
      const load = name => new Promise(resolve => {
        const worker = new Worker('import(' + JSON.stringify('./node_modules/interlingua/lib/modules/' + name) + ')', { eval: true })
        worker.on('error', fault => faults.push(name + ': ' + fault.message)).on('exit', resolve)
      })
      const names = ${JSON.stringify(modules.filter((_, at) => at % 12 === 0))}
      while (names.length > 0) await Promise.all(names.splice(0, 4).map(load))
      console.log(JSON.stringify(faults))`
    const { stdout, stderr } = ran(program)
    expect([stdout.trim(), stderr]).toEqual(['[]', ''])
  })

  test('can require it, and gets the same library', () => {
    const { stdout } = ran(`
      import { createRequire } from 'node:module'
      const required = createRequire(process.cwd() + '/x.js')('interlingua')
      const imported = await import('interlingua')
      console.log(required.chat === imported.chat, required.GatewayError === imported.GatewayError)`)
    expect(stdout.trim()).toBe('true true')
  })

  test.each(['interlingua/lib/modules/kit/library/index.js', 'interlingua/bin/interlingua.js', 'interlingua/../ws'])(
    'cannot import %s, which is no entry',
    name => {
      expect(ran(`await import(${JSON.stringify(name)})`).stderr).toMatch(
        /ERR_PACKAGE_PATH_NOT_EXPORTED|ERR_INVALID_MODULE_SPECIFIER/,
      )
    },
  )
})

describe('the types', () => {
  /** Compiles programs against the package. Returns the errors. */
  function compiled(program: string, options: object = {}): string {
    writeFileSync(join(app, 'program.ts'), program)
    writeFileSync(
      join(app, 'tsconfig.json'),
      JSON.stringify({
        compilerOptions: {
          ...{
            target: 'es2022',
            module: 'nodenext',
            moduleResolution: 'nodenext',
            strict: true,
            noEmit: true,
            types: [],
          },
          ...{
            lib: ['ES2023', 'ES2024.String', 'DOM', 'DOM.AsyncIterable', 'ESNext.Disposable'],
            exactOptionalPropertyTypes: true,
            ...options,
          },
        },
        files: ['program.ts'],
      }),
    )
    const { stdout } = spawnSync(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', app], {
      encoding: 'utf8',
    })
    return stdout
  }

  const PROGRAM = `
import { chat, messages, translate, readStream, type Translation } from 'interlingua'
export const ok: Translation = translate({ model: 'm' }, { from: chat, to: messages })
export const events: ReadableWritablePair<unknown, Uint8Array> = readStream(chat)
// @ts-expect-error a body is an object
translate('text', { from: chat, to: messages })
// @ts-expect-error a body has no functions
translate({ model: () => 'm' }, { from: chat, to: messages })
// @ts-expect-error a format is no name
translate({}, { from: 'chat', to: messages })
// @ts-expect-error both formats are needed
translate({}, { from: chat })
// @ts-expect-error there is no such answer to losses
translate({}, { from: chat, to: messages, onLoss: 'ignore' })
// @ts-expect-error nothing can be written
ok.body.model = 'other'
`

  test.each([
    {},
    { moduleResolution: 'bundler', module: 'esnext' },
    { isolatedModules: true, verbatimModuleSyntax: true },
  ])('are complete, and refuse what the library refuses, with %j', options => {
    expect(compiled(PROGRAM, options)).toBe('')
  })
})

test('a module that is cut or missing is named in the error', () => {
  const file = join(installed, 'lib/modules/kit/library/index.js')
  const whole = readFileSync(file)
  const { mode } = statSync(file)
  try {
    writeFileSync(file, whole.subarray(0, whole.length / 2))
    const cut = ran(TRANSLATION)
    expect(cut.status).toBe(1)
    expect(cut.stderr).toMatch(/SyntaxError|does not provide an export/)
    rmSync(file)
    expect(ran(TRANSLATION).stderr).toMatch(/ERR_MODULE_NOT_FOUND/)
  } finally {
    writeFileSync(file, whole, { mode })
  }
})
