import { join } from 'node:path'
import { createContext, runInContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import { build, type Rolldown } from 'vite'
import type * as library from '../../../src/kit/library/index.ts'

const ROOT = join(import.meta.dirname, '../../..')
const ENTRY = 'virtual:program'

export interface BundledProgram {
  readonly code: string
  /** Modules that the bundle leaves to the runtime. */
  readonly imports: readonly string[]
  /** Size after compression with gzip, in bytes. */
  readonly compressed: number
}

/** Package conditions under which bundlers for these runtimes look for files. */
export const RUNTIMES = { browser: ['browser', 'module'], edge: ['workerd', 'edge-light', 'worker'] } as const

/** Bundles and minifies a program that imports the library. */
export async function bundled(program: string, runtime: keyof typeof RUNTIMES): Promise<BundledProgram> {
  const { output } = (await build({
    configFile: false,
    root: ROOT,
    logLevel: 'error',
    publicDir: false,
    resolve: { conditions: [...RUNTIMES[runtime]] },
    plugins: [
      {
        name: 'program',
        enforce: 'pre',
        resolveId: id => (id === ENTRY ? join(ROOT, 'program.ts') : undefined),
        load: id => (id === join(ROOT, 'program.ts') ? program : undefined),
      },
    ],
    build: {
      write: false,
      target: 'es2022',
      modulePreload: false,
      rolldownOptions: {
        input: ENTRY,
        preserveEntrySignatures: 'strict',
        external: [/^node:/],
        output: { format: 'iife', name: 'program', minify: true },
      },
    },
  })) as Rolldown.RolldownOutput
  const chunks = output.filter(one => one.type === 'chunk')
  const code = chunks.map(one => one.code).join('\n')
  const imports = chunks.flatMap(one => [...one.imports, ...one.dynamicImports])
  return { code, imports, compressed: gzipSync(code).length }
}

/** Globals of the web platform that browsers and edge runtimes have. */
const WEB = { TextDecoder, TextEncoder, TransformStream, ReadableStream, WritableStream, atob, btoa, crypto, URL }

/** Runs a bundle where nothing of Node exists, and returns what it exports. */
export function runBare(code: string): typeof library {
  const context = createContext({ ...WEB })
  runInContext(code, context)
  return runInContext('program', context) as typeof library
}

export const ALL = "export * from './src/kit/library/index.ts'"
