import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

/* Packages that the lock file installs, for running the gateway and for development. */

interface Locked {
  readonly version?: string
  readonly resolved?: string
  readonly integrity?: string
  readonly license?: string
  readonly dev?: true
  readonly optional?: true
  readonly hasInstallScript?: true
}

const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
  readonly packages: { readonly [path: string]: Locked }
}
const LOCKED = Object.entries(packages).filter(([path]) => path !== '')
const RUNTIME = LOCKED.filter(([, { dev }]) => dev !== true)

/** Licences that let anybody ship the package with the gateway. */
const FREE: ReadonlySet<string> = new Set(['MIT', 'Apache-2.0', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD'])
/** Packages whose lock entry names no licence, and the licence that their `package.json` states in an older form. */
const STATED: { readonly [path: string]: string } = {
  'node_modules/busboy': 'MIT',
  'node_modules/streamsearch': 'MIT',
}

/** Packages for development that have an install script, and why. */
const WITH_SCRIPTS: { readonly [path: string]: string } = {
  'node_modules/protobufjs': 'It prints a warning about versions. Nothing here needs it.',
}

test('every package comes from the registry, with its digest', () => {
  const faults = LOCKED.filter(
    ([, { resolved, integrity }]) =>
      resolved?.startsWith('https://registry.npmjs.org/') === false || integrity?.startsWith('sha512-') !== true,
  )
  expect(faults.map(([path]) => path)).toEqual([])
})

test('no package that runs in the gateway has an install script', () => {
  expect(RUNTIME.filter(([, one]) => one.hasInstallScript).map(([path]) => path)).toEqual([])
  const scripts = LOCKED.filter(([, one]) => one.hasInstallScript).map(([path]) => path)
  expect(scripts).toEqual(Object.keys(WITH_SCRIPTS))
})

test('every package that runs in the gateway has a licence under which it can be shipped', () => {
  const faults = RUNTIME.filter(([path, { license }]) => !FREE.has(license ?? STATED[path] ?? 'unknown'))
  expect(faults.map(([path, { license }]) => `${path}: ${license}`)).toEqual([])
})

test('docs/dependencies.md has a row for each dependency, and no other', () => {
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly dependencies: object }
  const page = readFileSync('docs/dependencies.md', 'utf8')
  const rows = [...page.matchAll(/^\| ((?:`[^`]+`(?:, )?)+) \|/gm)].flatMap(([, names]) =>
    [...names!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!),
  )
  expect(rows.toSorted()).toEqual(Object.keys(dependencies).toSorted())
})
