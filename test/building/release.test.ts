import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { describe, expect, test } from 'vitest'
import { type Manifest, packageManifest } from '../../building/package/manifest.ts'
import { stage } from '../../building/package/pack.ts'
import { artifactOf, provenanceOf } from '../../building/package/provenance.ts'
import { reasonsAgainstPublishing } from '../../building/package/publishing.ts'
import { type Bom, consolePackages, sbomOf } from '../../building/package/sbom.ts'
import { chart, figures, versionOfMatrix } from '../../building/package/supplements.ts'
import { closingAfterEach } from '../builders/closing.ts'

/* Parts of a release. `npm run first-start` makes a whole one. */

const ROOT = join(import.meta.dirname, '../..')
const SCHEMAS = join(ROOT, 'node_modules/@cyclonedx/cyclonedx-library/res/schema')
const json = <T>(...path: string[]): T => JSON.parse(readFileSync(join(...path), 'utf8')) as T

const closing = closingAfterEach()

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'interlingua-release-'))
  closing.push(() => rmSync(made, { recursive: true, force: true }))
  return made
}

const MANIFEST = json<Manifest>(ROOT, 'package.json')

interface Locked {
  readonly name?: string
  readonly version: string
  readonly dependencies?: { readonly [name: string]: string }
  readonly optionalDependencies?: { readonly [name: string]: string }
  readonly peerDependencies?: { readonly [name: string]: string }
  readonly peerDependenciesMeta?: { readonly [name: string]: { readonly optional?: boolean } }
}

const { packages: LOCKED } = json<{ readonly packages: { readonly [path: string]: Locked } }>(ROOT, 'package-lock.json')

/** Returns the path at which a package of the lock file finds another one. */
function resolved(from: string, name: string): string | undefined {
  const path = `${from === '' ? '' : `${from}/`}node_modules/${name}`
  if (LOCKED[path] !== undefined) return path
  return from === '' ? undefined : resolved(from.replace(/\/?(?:^|\/)node_modules\/(?:@[^/]+\/)?[^/]+$/, ''), name)
}

/** Every package that the roots need, by the lock file: `name@version`. */
function needed(roots: readonly string[]): readonly string[] {
  const paths = new Set(roots.map(name => resolved('', name)!))
  for (const path of paths) {
    const {
      dependencies = {},
      optionalDependencies = {},
      peerDependencies = {},
      peerDependenciesMeta = {},
    } = LOCKED[path]!
    const peers = Object.keys(peerDependencies).filter(name => peerDependenciesMeta[name]?.optional !== true)
    for (const name of [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers]) {
      const found = resolved(path, name)
      if (found !== undefined) paths.add(found)
    }
  }
  return [...paths].map(path => `${path.replace(/^.*node_modules\//, '')}@${LOCKED[path]!.version}`).sort()
}

describe('the list of packages', () => {
  const bom: Bom = sbomOf(ROOT)

  test('follows the schema of CycloneDX', () => {
    const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true })
    for (const file of ['spdx.SNAPSHOT.schema.json', 'jsf-0.82.SNAPSHOT.schema.json'])
      ajv.addSchema({ ...json<object>(SCHEMAS, file), $id: `http://cyclonedx.org/schema/${file}` })
    const validate = ajv.compile(json<object>(SCHEMAS, `bom-${bom.specVersion}.SNAPSHOT.schema.json`))
    expect(validate(bom) ? [] : validate.errors).toEqual([])
    expect(validate({ ...bom, bomFormat: 'other' })).toBe(false)
  })

  test('has exactly the production dependencies and the packages of the console, with all that they need', () => {
    const roots = [...Object.keys(MANIFEST['dependencies'] as object), ...consolePackages(ROOT)]
    expect(bom.components.map(one => one['bom-ref']).sort()).toEqual(needed(roots))
    expect(bom.metadata.component).toMatchObject({ name: 'interlingua', version: MANIFEST['version'] })
  })

  test('names no package for development, and none that brings a Node', () => {
    const names = bom.components.map(({ name }) => name)
    expect(
      names.filter(name => /^(?:vite|vitest|typescript|fast-check|openai|node-.*|@biomejs\/.*)$/.test(name)),
    ).toEqual([])
    expect(names).toEqual(expect.arrayContaining(['express', 'undici', 'preact', 'uplot']))
  })

  test('every dependency in it is a component of it', () => {
    const refs = new Set([bom.metadata.component, ...bom.components].map(one => one['bom-ref']))
    for (const { ref, dependsOn = [] } of bom.dependencies)
      expect([ref, ...dependsOn].filter(one => !refs.has(one))).toEqual([])
  })
})

test('the packages of the console are those that its sources import', () => {
  expect([...consolePackages(ROOT)].sort()).toEqual([
    ...['@fontsource-variable/inter', '@preact/signals', 'preact', 'preact-iso', 'uplot', 'valibot'],
  ])
})

describe('publishing', () => {
  const repository = { type: 'git', url: 'git+https://git.example/owner/interlingua.git' }
  const { private: _, ...open }: Manifest = { ...MANIFEST, repository }

  test('has a reason against it while package.json is private or its repository is a placeholder', () => {
    expect(reasonsAgainstPublishing(MANIFEST)).toHaveLength(2)
    expect(reasonsAgainstPublishing({ ...MANIFEST, repository })).toEqual([expect.stringContaining('private')])
    expect(reasonsAgainstPublishing({ ...open, repository: MANIFEST['repository'] })).toEqual([
      expect.stringContaining('placeholder'),
    ])
    expect(reasonsAgainstPublishing(open)).toEqual([])
  })

  test('is refused by npm, unless a release was allowed', () => {
    expect(packageManifest(open, ['ws'], false)['private']).toBe(true)
    expect(packageManifest(open, ['ws'], true)).not.toHaveProperty('private')
  })
})

test('the provenance names the package by its digests, the commit and the lock file', () => {
  const artifact = artifactOf('interlingua-1.0.0.tgz', new TextEncoder().encode('package'))
  const source = { repository: 'git+https://git.example/owner/interlingua.git', commit: 'c0ffee', lock: '1234' }
  expect(provenanceOf(artifact, source, 'v26.0.0')).toMatchObject({
    subject: [{ name: 'interlingua-1.0.0.tgz', digest: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/) } }],
    predicate: {
      buildDefinition: {
        resolvedDependencies: [
          { uri: source.repository, digest: { gitCommit: 'c0ffee' } },
          { uri: `${source.repository}#package-lock.json`, digest: { sha256: '1234' } },
        ],
      },
    },
  })
})

describe('the staging folder of the package', () => {
  test('has its files and a manifest of its own, and the repository keeps its manifest', () => {
    const [staging, before] = [folder(), readFileSync(join(ROOT, 'package.json'), 'utf8')]
    stage(ROOT, staging, ['ws'], false)
    expect(readFileSync(join(ROOT, 'package.json'), 'utf8')).toBe(before)
    const manifest = json<Manifest>(staging, 'package.json')
    expect(manifest).toMatchObject({ name: 'interlingua', private: true, bin: MANIFEST['bin'] })
    expect(manifest['dependencies']).toEqual({ ws: (MANIFEST['dependencies'] as { ws: string }).ws })
    expect(manifest).not.toHaveProperty('scripts')
    expect(readdirSync(staging)).toEqual(expect.arrayContaining(['bin', 'catalogue', 'LICENSE', 'README.md']))
    expect(readdirSync(staging)).not.toContain('src')
  })

  test('is not made for a package that is no dependency, and the repository keeps its manifest', () => {
    const before = readFileSync(join(ROOT, 'package.json'), 'utf8')
    expect(() => stage(ROOT, folder(), ['unheard-of'], false)).toThrow('must be among the dependencies')
    expect(readFileSync(join(ROOT, 'package.json'), 'utf8')).toBe(before)
  })
})

describe('what a release has beside the package', () => {
  test('is a chart, the same bytes each time', () => {
    const [one, other] = [folder(), folder()]
    expect([chart(ROOT, one, '1.2.3'), chart(ROOT, other, '1.2.3')]).toEqual([
      ...[{ file: 'interlingua-chart-1.2.3.tgz' }, { file: 'interlingua-chart-1.2.3.tgz' }],
    ])
    const [first, second] = [one, other].map(path => readFileSync(join(path, 'interlingua-chart-1.2.3.tgz')))
    expect(first!.equals(second!)).toBe(true)
  })

  test('are figures, with a word about those of another version', () => {
    const made = folder()
    const version = versionOfMatrix(readFileSync(join(ROOT, 'docs/conformance.json'), 'utf8'))
    expect(figures(ROOT, made, version)).toEqual([
      { file: `interlingua-${version}.conformance.json` },
      { file: `interlingua-${version}.benchmarks.md` },
    ])
    expect(figures(ROOT, made, '99.0.0').at(-1)).toEqual({ missing: expect.stringContaining(`is of ${version}`) })
  })
})
