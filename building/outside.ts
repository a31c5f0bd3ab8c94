import { readFileSync } from 'node:fs'
import { createRequire, findPackageJSON, isBuiltin } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Plugin } from 'vite'
import { defaultsImported } from './location.ts'

/** Package name of an import, for example `@scope/name` for `@scope/name/part`. */
const packageIn = (specifier: string): string => /^(?:@[^/]+\/)?[^/]+/.exec(specifier)![0]

/** Fields of a package in a lock file that are used here. */
interface Locked {
  readonly dev?: boolean
  readonly devOptional?: boolean
}

/**
 * Checks that packages outside of a bundle are available in an installation without development dependencies.
 *
 * @param names packages that the bundle imports.
 *
 * @throws Error for a package that is not locked as a direct runtime dependency.
 */
export function checkOutside(root: string, names: Iterable<string>): void {
  const { packages } = JSON.parse(readFileSync(`${root}/package-lock.json`, 'utf8')) as {
    readonly packages: { readonly [path: string]: Locked }
  }
  for (const name of names) {
    const locked = packages[`node_modules/${name}`]
    if (locked === undefined || locked.dev || locked.devOptional)
      throw new Error(`${name} stays outside of the bundle, so it has to be among the dependencies of package.json`)
  }
}

/**
 * Checks that each import from outside of a bundle is available at run time, and that its default export is found. In a
 * CommonJS bundle, `require` of an ES module returns its namespace where the import statement expects its `default`.
 */
export function outsideImports(root: string): Plugin {
  const defaults = new Map<string, readonly string[]>()
  const load = createRequire(join(root, 'package.json'))
  return {
    name: 'outside-imports',
    enforce: 'pre',
    transform: {
      order: 'pre',
      handler(code, id) {
        if (/^[^\0?]+\.[cm]?[jt]s$/.test(id) && /\bdefault\b|\bimport\s+[\w$]/.test(code))
          defaults.set(id, defaultsImported(id, code))
      },
    },
    generateBundle(_, bundle) {
      const chunks = Object.values(bundle).filter(one => one.type === 'chunk')
      const files = new Set(chunks.map(({ fileName }) => fileName))
      const all = chunks.flatMap(({ imports, dynamicImports }) => [...imports, ...dynamicImports])
      const outside = new Set(all.filter(name => !files.has(name) && !isBuiltin(name)))
      checkOutside(root, new Set([...outside].map(packageIn)))
      for (const id of chunks.flatMap(({ modules }) => Object.keys(modules))) {
        const name = defaults.get(id)?.find(one => outside.has(one) && isModule(load.resolve(one)))
        if (name !== undefined)
          this.error(`${id} takes the default export of ${name}, an ES module outside of the bundle: use import()`)
      }
    },
  }
}

/** Whether Node treats a file as an ES module. */
function isModule(path: string): boolean {
  if (!path.endsWith('.js')) return path.endsWith('.mjs')
  const described = JSON.parse(readFileSync(findPackageJSON(pathToFileURL(path).href)!, 'utf8')) as { type?: string }
  return described.type === 'module'
}
