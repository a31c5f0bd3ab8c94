import { globSync } from 'node:fs'
import { basename, extname, join, relative } from 'node:path'
import type { Plugin, Rolldown } from 'vite'
import { locationUses } from './location.ts'

/**
 * Modules that depend on their location only in code that this program does not use. Each key is the end of a path and
 * each value is the reason.
 */
export interface Tolerated {
  readonly [path: string]: string
}

/** A package that cannot be bundled. */
export interface Unmovable {
  readonly name: string
  readonly folder: string
  /** The module, and the expression or file name found in it. */
  readonly reason: string
}

/** Files that are code themselves, or that no program reads. */
const NOT_READ = /(?:\.(?:[cm]?[jt]sx?|map|md|markdown)|^(?:package\.json|(?:licen[cs]e|readme|changelog|history).*))$/i

const PACKAGE = /^(.*\/node_modules\/((?:@[^/]+\/)?[^/]+))\//

/**
 * Finds what bundled modules load at run time and would no longer find: code of a package that depends on its location,
 * or that names a file shipped with it (`.wasm`, `.json`, `.node`, …). Calls `unmovable` for each such package. Fails
 * if a module of this project depends on its location, or if a tolerated module no longer does.
 */
export function runTimeFiles(tolerated: Tolerated, unmovable: (found: Unmovable) => void): Plugin {
  const uses = new Map<string, readonly string[]>()
  const sources = new Map<string, string>()
  return {
    name: 'run-time-files',
    enforce: 'pre',
    transform: {
      order: 'pre',
      handler(code, id) {
        const path = id.replace(/\?.*$/, '')
        if (path.startsWith('\0') || !/\.[cm]?[jt]s$/.test(path)) return
        uses.set(id, locationUses(path, code, !path.includes('/node_modules/')))
        if (path.includes('/node_modules/')) sources.set(id, code)
      },
    },
    generateBundle(_, bundle) {
      const modules = renderedModules(bundle)
      const located = modules.flatMap(id => (uses.get(id)?.length ? [{ id, uses: uses.get(id)! }] : []))
      for (const end of Object.keys(tolerated))
        if (!located.some(({ id }) => id.endsWith(end))) this.error(`${end} needs no toleration: it is gone or mended`)
      const isTolerated = (id: string): boolean => Object.keys(tolerated).some(end => id.endsWith(end))
      for (const { id, uses } of located) {
        if (isTolerated(id)) continue
        const [, folder, name] = PACKAGE.exec(id) ?? []
        if (folder === undefined || name === undefined)
          this.error(`${id} depends on its location, which a bundle changes: ${uses[0]}. Begin at ROOT (src/root.ts).`)
        unmovable({ name, folder, reason: `${basename(id)}: ${uses[0]}` })
      }
      for (const found of mentioned(modules, id => (isTolerated(id) ? undefined : sources.get(id)))) unmovable(found)
    },
  }
}

/** Modules of which the bundle contains any code. */
const renderedModules = (bundle: Rolldown.OutputBundle): string[] =>
  Object.values(bundle).flatMap(one =>
    one.type === 'chunk'
      ? Object.entries(one.modules).flatMap(([id, { renderedLength }]) => (renderedLength > 0 ? [id] : []))
      : [],
  )

/** Packages whose code contains the name of a file that they ship and that is not itself in the bundle. */
function mentioned(modules: readonly string[], codeOf: (id: string) => string | undefined): Unmovable[] {
  const bundled = new Set(modules)
  const packages = Map.groupBy(
    modules.filter(id => codeOf(id) !== undefined),
    id => PACKAGE.exec(id)![1]!,
  )
  return [...packages].flatMap(([folder, ids]) => {
    const files = filesIn(folder).filter(
      file => extname(file) !== '' && !NOT_READ.test(basename(file)) && !bundled.has(`${folder}/${file}`),
    )
    return files.flatMap(file => {
      const id = ids.find(one => hasText(codeOf(one)!, basename(file)))
      if (id === undefined) return []
      return [{ name: PACKAGE.exec(id)![2]!, folder, reason: `${basename(id)}: '${basename(file)}'` }]
    })
  })
}

/** Files of a package that have an extension, without folders whose names look like one (`yaml-1.1`). */
const filesIn = (folder: string): string[] =>
  globSync('**/*.*', { cwd: folder, exclude: entry => entry.name === 'node_modules', withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => relative(folder, join(entry.parentPath, entry.name)))

/** Whether code contains a string that ends with the name, as in `'./data/names.json'`. */
const hasText = (code: string, name: string): boolean => ["'", '"', '`'].some(quote => code.includes(`${name}${quote}`))
