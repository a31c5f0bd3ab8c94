import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { bundleInto, type Program } from '../../building/into.ts'
import { locationUses } from '../../building/location.ts'

/** An empty WebAssembly module. */
const WASM = Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0])

/** The package's files beside its code. */
const FILES = {
  'data/made.wasm': WASM,
  'data/names.json': '{"name":"Ada"}',
  'worker.cjs': "require('node:worker_threads').parentPort.postMessage('from the worker')",
}

/** Result of the package: a promise of the text that it read. */
const READ = `
  const names = JSON.parse(fs.readFileSync(file('data/names.json'), 'utf8'))
  const wasm = await WebAssembly.instantiate(fs.readFileSync(file('data/made.wasm')))
  const worker = new Worker(file('worker.cjs'))
  const said = await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject))
  return [names.name, typeof wasm.instance, said]
`
const ESM = (file: string): string => `import fs from 'node:fs'
import { Worker } from 'node:worker_threads'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
${file}
export default async () => {${READ}}
`
const CJS = (file: string): string => `const fs = require('fs')
const { Worker } = require('worker_threads')
const { join } = require('path')
${file}
module.exports = async () => {${READ}}
`

/** Ways in which a package may find files beside its code. */
const WAYS: { readonly [name: string]: string } = {
  'an address from import.meta.url': ESM('const file = name => new URL(name, import.meta.url)'),
  'the folder of import.meta.url': ESM('const file = name => join(dirname(fileURLToPath(import.meta.url)), name)'),
  'import.meta.dirname': ESM('const file = name => join(import.meta.dirname, name)'),
  'import.meta.resolve': ESM('const file = name => fileURLToPath(import.meta.resolve("./".concat(name)))'),
  createRequire: ESM('const file = name => createRequire(import.meta.url).resolve("./".concat(name))'),
  __dirname: CJS('const file = name => join(__dirname, name)'),
  __filename: CJS("const file = name => join(__filename, '..', name)"),
  'require.resolve': CJS('const file = name => require.resolve("./".concat(name))'),
  'a path of its own making': CJS(
    "const paths = { 'data/names.json': 'data/names.json', 'data/made.wasm': 'data/made.wasm', 'worker.cjs': 'worker.cjs' }\n" +
      'const file = name => join(process.env.ROOT, "node_modules/made-up", paths[name])',
  ),
}

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'run time é '))
  write('package.json', '{"type":"module","dependencies":{"made-up":"1.0.0"}}')
  lock({})
})
afterEach(() => rmSync(root, { recursive: true }))

function write(path: string, content: string | Buffer): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), content)
}

const lock = (entry: object): void =>
  write('package-lock.json', JSON.stringify({ packages: { 'node_modules/made-up': entry } }))

/** Installs a package with this main module, and a program that uses it. */
function install(code: string, folder = 'node_modules/made-up'): void {
  const main = code.includes('module.exports') ? 'main.cjs' : 'main.mjs'
  write(`${folder}/package.json`, JSON.stringify({ name: 'made-up', version: '1.0.0', main }))
  write(`${folder}/${main}`, code)
  for (const [path, content] of Object.entries(FILES)) write(`${folder}/${path}`, content)
  write(
    'src/main.js',
    "void import('made-up').then(made => made.default()).then(all => console.log(JSON.stringify(all)))\n",
  )
}

const bundle = (more: Partial<Program> = {}) =>
  bundleInto(join(root, 'dist/new'), {
    ...{ root, main: 'src/main.js', external: [], tolerated: {}, plugins: [] },
    ...more,
  })

function run(path: string): unknown {
  const env = { ...process.env, ROOT: root, NODE_OPTIONS: '' }
  return JSON.parse(execFileSync(process.execPath, [join(root, path)], { cwd: tmpdir(), env, encoding: 'utf8' }))
}

describe('a package that loads a .wasm, a .json and a worker from beside its code', () => {
  test.each(Object.keys(WAYS))('stays outside of the bundle, and works: %s', async way => {
    install(WAYS[way]!)
    const { unmovable } = await bundle()
    expect(unmovable).toMatchObject([{ name: 'made-up', folder: join(root, 'node_modules/made-up') }])
    expect(run('dist/new/main.cjs')).toEqual(['Ada', 'object', 'from the worker'])
    expect(run('src/main.js')).toEqual(['Ada', 'object', 'from the worker'])
  })

  test('must be there without development packages', async () => {
    install(WAYS['__dirname']!)
    lock({ dev: true })
    await expect(bundle()).rejects.toThrow(
      'made-up stays outside of the bundle, so it has to be among the dependencies',
    )
  })

  test('cannot be that of another package alone', async () => {
    install(WAYS['__dirname']!, 'node_modules/outer/node_modules/made-up')
    write('node_modules/outer/package.json', '{"name":"outer","main":"main.mjs"}')
    write('node_modules/outer/main.mjs', "export { default } from 'made-up'")
    write('src/main.js', "import read from 'outer'\nvoid read()\n")
    await expect(bundle()).rejects.toThrow(
      /node_modules\/outer\/node_modules\/made-up loads files from beside its code/,
    )
  })

  test('is refused as an ES module whose default export a statement imports', async () => {
    install(WAYS['import.meta.dirname']!)
    write('src/main.js', "import read from 'made-up'\nvoid read()\n")
    await expect(bundle()).rejects.toThrow(/main.js takes the default export of made-up, an ES module outside/)
    write('src/main.js', "export { default } from 'made-up'\n")
    await expect(bundle()).rejects.toThrow(/main.js takes the default export of made-up, an ES module outside/)
  })

  test('is bundled where the part that does is known not to be used', async () => {
    install(CJS('const file = name => join(__dirname, name)'))
    const { unmovable } = await bundle({ tolerated: { '/made-up/main.cjs': 'for the test' } })
    expect(unmovable).toEqual([])
  })
})

test('what is tolerated without a need fails the build', async () => {
  install('module.exports = async () => 1')
  await expect(bundle({ tolerated: { '/made-up/main.cjs': 'no reason' } })).rejects.toThrow('needs no toleration')
})

test('a package that requires its JSON by a literal is bundled with it', async () => {
  install("module.exports = async () => [require('./data/names.json').name]")
  expect((await bundle()).unmovable).toEqual([])
  rmSync(join(root, 'node_modules'), { recursive: true })
  expect(run('dist/new/main.cjs')).toEqual(['Ada'])
})

test('a package whose code contains the name of one of its folders is bundled', async () => {
  install("module.exports = async () => ['names-1.1']")
  write('node_modules/made-up/names-1.1/index.cjs', '')
  expect((await bundle()).unmovable).toEqual([])
})

test('sources of the program that depend on where they are fail the build', async () => {
  install('module.exports = async () => 1')
  write('src/main.js', "console.log(new URL('x.json', import.meta.url).href)\n")
  await expect(bundle()).rejects.toThrow(/src\/main.js depends on its location, which a bundle changes: import\.meta/)
  expect(readdirSync(root)).toContain('src')
})

test.each([
  ['import.meta', "import 'x'; f(import.meta.url)"],
  ['import(name)', 'export const load = name => import(name)'],
  ['require(name)', 'module.exports = name => require(name)', 'require'],
  ['require.resolve', "module.exports = require.resolve('./x.wasm')", 'require'],
  ['module.exports = require', 'module.exports = require', 'require'],
  ['__dirname in a short property', 'module.exports = { __dirname }', '__dirname'],
])('%s depends on the location', (_, code, text = _) => {
  expect(locationUses('/x.js', code)).toEqual([text])
})

test.each([
  ["const x = require('./x.json')"],
  ["import('./x.js')"],
  ["typeof require === 'function'"],
  ['module.exports = { require: true }; value.require(name)'],
  ['// reads __dirname'],
])('%s does not', code => {
  expect(locationUses('/x.js', code)).toEqual([])
})

test('sources of the program may look for packages from where they are, and for nothing else', () => {
  expect(locationUses('/x.ts', 'const load: Load = createRequire(import.meta.url)', true)).toEqual([])
  expect(locationUses('/x.ts', 'const load: Load = createRequire(import.meta.url)')).toEqual(['import.meta'])
  expect(locationUses('/x.ts', "createRequire(import.meta.url); new URL('x', import.meta.url)", true)).toHaveLength(1)
})
