import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from 'vite'
import { packageIn } from './modules.ts'

/** A CycloneDX list of packages, with the fields that are used here. */
export interface Bom {
  readonly specVersion: string
  readonly metadata: { readonly component: Component }
  readonly components: readonly Component[]
  readonly dependencies: readonly Dependency[]
}

interface Component {
  readonly 'bom-ref': string
  readonly name: string
  readonly version: string
}

interface Dependency {
  readonly ref: string
  readonly dependsOn?: readonly string[]
}

/** Maximum size of npm's list of packages, in bytes. */
const MAX_LIST = 64 * 1024 * 1024

/**
 * Lists what the package contains or installs: the dependencies and the packages of the console, each with all of its
 * own. Packages for development and for Node itself are left out.
 */
export function sbomOf(root: string): Bom {
  const words = ['sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application']
  const text = execFileSync('npm', words, { cwd: root, encoding: 'utf8', maxBuffer: MAX_LIST })
  const { name, dependencies, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly name: string
    readonly dependencies: { readonly [name: string]: string }
    readonly devDependencies: { readonly [name: string]: string }
  }
  const roots = new Set(Object.keys(dependencies))
  const ofConsole = consolePackages(root).difference(roots)
  return listed(JSON.parse(text) as Bom, { name, roots, ofConsole, development: new Set(Object.keys(devDependencies)) })
}

interface Packages {
  /** Name of the project. */
  readonly name: string
  /** Dependencies of the project. */
  readonly roots: ReadonlySet<string>
  /** Packages in the console's bundle. */
  readonly ofConsole: ReadonlySet<string>
  /** Packages for development, some of which are optional peers of dependencies. */
  readonly development: ReadonlySet<string>
}

/** Reduces npm's list to what the roots need. npm names the whole after its folder. */
function listed(bom: Bom, { name, roots, ofConsole, development }: Packages): Bom {
  const whole = bom.metadata.component
  const needs = new Map(bom.dependencies.map(({ ref, dependsOn = [] }) => [ref, dependsOn]))
  const direct = needs.get(whole['bom-ref'])!
  const refs = direct.filter(ref => roots.has(nameOf(ref)))
  const consoleRefs = direct.filter(ref => ofConsole.has(nameOf(ref)))
  const kept = new Set([
    ...reached(refs, ref => needs.get(ref)!.filter(one => !development.has(nameOf(one)))),
    ...reached(consoleRefs, ref => needs.get(ref)!),
  ])
  return {
    ...bom,
    metadata: { ...bom.metadata, component: { ...whole, name } },
    components: bom.components.filter(one => kept.has(one['bom-ref'])),
    dependencies: [
      { ref: whole['bom-ref'], dependsOn: [...refs, ...consoleRefs] },
      ...[...kept].map(ref => ({ ref, dependsOn: needs.get(ref)!.filter(one => kept.has(one)) })),
    ],
  }
}

/** Returns `@scope/name` of the reference `@scope/name@1.0.0`. */
const nameOf = (ref: string): string => ref.slice(0, ref.lastIndexOf('@'))

function reached(from: readonly string[], next: (ref: string) => readonly string[]): ReadonlySet<string> {
  const found = new Set(from)
  for (const ref of found) for (const one of next(ref)) found.add(one)
  return found
}

/** Matches the file of a package that a style names. */
const URL_OF_PACKAGE = /url\("(@?\w[^":]*)"\)/g

/** Names of the packages that the console imports, in scripts and styles; its bundle contains them. */
export function consolePackages(root: string): ReadonlySet<string> {
  const folder = join(root, 'console/src')
  const specifiers = globSync('**/*.{ts,tsx}', { cwd: folder }).flatMap(file =>
    parseSync(file, readFileSync(join(folder, file), 'utf8')).module.staticImports.map(
      ({ moduleRequest }) => moduleRequest.value,
    ),
  )
  const fonts = globSync('**/*.css', { cwd: folder }).flatMap(file =>
    [...readFileSync(join(folder, file), 'utf8').matchAll(URL_OF_PACKAGE)].map(([, name]) => name!),
  )
  return new Set([...specifiers, ...fonts].filter(one => !one.startsWith('.')).map(packageIn))
}
