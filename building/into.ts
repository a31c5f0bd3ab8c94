import { join } from 'node:path'
import { build, type Plugin, type Rolldown } from 'vite'
import { outsideImports } from './outside.ts'
import { runTimeFiles, type Tolerated, type Unmovable } from './run-time-files.ts'

export interface Program {
  /** Folder that contains `package.json`, `package-lock.json` and `node_modules`. */
  readonly root: string
  /** Path of the main module, relative to the root. */
  readonly main: string
  /** Packages to leave out of the bundle. */
  readonly external: readonly string[]
  readonly tolerated: Tolerated
  readonly plugins: readonly Plugin[]
}

export interface Bundled {
  readonly output: Rolldown.RolldownOutput
  /** Packages left out in addition to `external` because they load files from the folder of their code. */
  readonly unmovable: readonly Unmovable[]
}

/**
 * Bundles a program and its packages into a folder as `main.cjs` and its chunks. If a package would not find its files
 * from there (`run-time-files.ts`), the program is bundled again without that package.
 *
 * @throws Error if this applies to a module of the program itself, or if a package that is left out is no runtime
 * dependency.
 */
export async function bundleInto(folder: string, program: Program): Promise<Bundled> {
  const unmovable: Unmovable[] = []
  for (;;) {
    const before = unmovable.length
    const found = (one: Unmovable): void => {
      if (!unmovable.some(({ name }) => name === one.name)) unmovable.push(one)
    }
    const external = [...program.external, ...unmovable.map(({ name }) => name)]
    const output = await buildOnce(folder, { ...program, external }, found)
    for (const { name, folder, reason } of unmovable.slice(before))
      if (folder !== join(program.root, 'node_modules', name))
        throw new Error(`${folder} loads files from beside its code (${reason}), and is not found from the bundle`)
    if (unmovable.length === before) return { output, unmovable }
  }
}

async function buildOnce(
  folder: string,
  { root, main, external, tolerated, plugins }: Program,
  found: (one: Unmovable) => void,
): Promise<Rolldown.RolldownOutput> {
  const output = await build({
    configFile: false,
    root,
    logLevel: 'error',
    publicDir: false,
    plugins: [runTimeFiles(tolerated, found), outsideImports(root), ...plugins],
    ssr: { noExternal: true, external: [...external] },
    build: {
      ssr: main,
      outDir: folder,
      emptyOutDir: true,
      target: 'esnext',
      minify: true,
      rolldownOptions: {
        output: { format: 'cjs', entryFileNames: '[name].cjs', chunkFileNames: '[name].cjs', keepNames: true },
      },
    },
  })
  return output as Rolldown.RolldownOutput
}
