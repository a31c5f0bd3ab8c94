import { ENTRIES } from './entries.ts'

/** The contents of a package.json. */
export type Manifest = { readonly [field: string]: unknown }
type Versions = { readonly [name: string]: string }

/** Fields that only the repository needs. The package brings no Node: it would replace the one of its user's scripts. */
const OF_REPOSITORY = ['scripts', 'devDependencies', 'optionalDependencies', 'allowScripts', 'private']

/** Folder of the built modules, relative to the package. */
const MODULES = './lib/modules'

/**
 * Returns the manifest of the package.
 *
 * @param packages packages that the built files import. All others are part of the bundle.
 * @param mayPublish whether the package may be published. Without it npm refuses to.
 */
export function packageManifest(manifest: Manifest, packages: readonly string[], mayPublish: boolean): Manifest {
  const versions = manifest['dependencies'] as Versions
  const unknown = packages.filter(name => !Object.hasOwn(versions, name))
  if (unknown.length > 0) throw new Error(`${unknown} must be among the dependencies of package.json`)
  return {
    ...Object.fromEntries(Object.entries(manifest).filter(([field]) => !OF_REPOSITORY.includes(field))),
    ...(mayPublish ? {} : { private: true }),
    dependencies: Object.fromEntries(packages.map(name => [name, versions[name]])),
  }
}

/** The `exports` of package.json: the entries with their types, and package.json itself. */
export const exportsOf = () => ({
  ...Object.fromEntries(
    ENTRIES.map(({ name, source }) => {
      const path = `${MODULES}/${source.replace(/\.ts$/, '')}`
      return [name, { types: `${path}.d.ts`, default: `${path}.js` }]
    }),
  ),
  './package.json': './package.json',
})
