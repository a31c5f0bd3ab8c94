import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { build, type Rolldown } from 'vite'
import { ENTRIES, type Entry } from './entries.ts'

/** Oldest engine whose syntax the modules may use: Node 20, and browsers of 2023. */
const TARGET = 'es2022'

/** Name of a package in an import, for example `@scope/name` for `@scope/name/part`. */
export const packageIn = (specifier: string): string => /^(?:@[^/]+\/)?[^/]+/.exec(specifier)![0]

/**
 * Builds the modules that programs import, one file per source file, so that bundlers leave out what is not used.
 * Packages stay imports.
 *
 * @returns the names of these packages.
 */
export async function buildModules(root: string, folder: string): Promise<readonly string[]> {
  const { output } = (await build({
    configFile: false,
    root,
    logLevel: 'error',
    publicDir: false,
    ssr: { external: true },
    build: {
      ssr: true,
      outDir: folder,
      emptyOutDir: true,
      target: TARGET,
      minify: false,
      rolldownOptions: {
        input: ENTRIES.map(({ source }) => join(root, 'src', source)),
        preserveEntrySignatures: 'strict',
        output: { format: 'es', preserveModules: true, preserveModulesRoot: 'src', entryFileNames: '[name].js' },
      },
    },
  })) as Rolldown.RolldownOutput
  const files = new Set(output.map(({ fileName }) => fileName))
  const imports = output.flatMap(one => (one.type === 'chunk' ? [...one.imports, ...one.dynamicImports] : []))
  // No module of the package does anything when it is merely loaded.
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify({ type: 'module', sideEffects: false })}\n`)
  for (const entry of ENTRIES) buildTypes(root, folder, entry)
  return [...new Set(imports.filter(name => !files.has(name) && !isBuiltin(name)).map(packageIn))].sort()
}

const IMPORT = /(from\s+|import\()(['"])(\.[^'"]+)\.ts\2/g

/** Writes the declarations that an entry needs beside the modules. */
function buildTypes(root: string, folder: string, { source: entry, settings }: Entry): void {
  const all = mkdtempSync(join(tmpdir(), 'interlingua-types-'))
  try {
    const compiler = join(root, 'node_modules/typescript/bin/tsc')
    const project = join(root, 'building/package', settings)
    const { status, stdout } = spawnSync(process.execPath, [compiler, '-p', project, '--outDir', all], {
      encoding: 'utf8',
    })
    if (status !== 0) throw new Error(`The declarations cannot be written:\n${stdout}`)
    const waiting = [entry]
    const done = new Set<string>()
    for (let source = waiting.pop(); source !== undefined; source = waiting.pop()) {
      if (done.has(source)) continue
      done.add(source)
      const path = source.replace(/\.ts$/, '.d.ts')
      const text = readFileSync(join(all, path), 'utf8')
      for (const [, , , imported] of text.matchAll(IMPORT)) waiting.push(`${join(dirname(source), imported!)}.ts`)
      cpSync(join(all, path), join(folder, path))
      writeFileSync(join(folder, path), text.replace(IMPORT, '$1$2$3.js$2'))
    }
  } finally {
    rmSync(all, { recursive: true, force: true })
  }
}
