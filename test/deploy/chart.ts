import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { parse, parseAllDocuments } from 'yaml'
import { helm, RENDER, SCHEMAS } from './tools.ts'

export const CHART = 'deploy/helm/interlingua'

export const chartText = (path: string): string => readFileSync(join(CHART, path), 'utf8')

/** Templates by file name. */
export const TEMPLATES: ReadonlyMap<string, string> = new Map(
  globSync('templates/*', { cwd: CHART })
    .sort()
    .map(path => [basename(path), chartText(path)]),
)

// biome-ignore lint/suspicious/noExplicitAny: tests look into manifests of any kind
export type Manifest = any

/** The manifests of the chart with these values. Throws the message of a chart that refuses them. */
export function manifestsOf(values: object): readonly Manifest[] {
  const { status, stdout, stderr } = spawnSync(RENDER, {
    input: JSON.stringify({ chart: CHART, values }),
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(stderr)
  const files: { readonly [name: string]: string } = JSON.parse(stdout)
  return Object.entries(files)
    .filter(([name]) => name.endsWith('.yaml'))
    .flatMap(([, text]) => documentsIn(text))
}

/** The manifests that Helm itself makes of the chart. */
export function manifestsOfHelm(values: object): readonly Manifest[] {
  const words = ['template', 'example', CHART, '--namespace', 'default', '--values', '-']
  const { status, stdout, stderr } = spawnSync(helm!, words, { input: JSON.stringify(values), encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  return documentsIn(stdout)
}

const documentsIn = (text: string): Manifest[] =>
  parseAllDocuments(text)
    .map(document => document.toJS())
    .filter(value => value !== null)

/** Manifests without an order. */
export const byName = (manifests: readonly Manifest[]): { readonly [name: string]: Manifest } =>
  Object.fromEntries(manifests.map(one => [`${one.kind}/${one.metadata.name}`, one]))

/** Returns the only manifest of a kind. */
export function only(manifests: readonly Manifest[], kind: string): Manifest {
  const [one, ...more] = manifests.filter(manifest => manifest.kind === kind)
  if (one === undefined || more.length > 0) throw new Error(`${more.length + (one === undefined ? 0 : 1)} of ${kind}`)
  return one
}

/** Paths of all values, such as `image.tag`. A list or an empty map is one value. */
export function pathsIn(value: unknown, at = ''): readonly string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [at]
  const fields = Object.entries(value)
  return fields.length === 0 ? [at] : fields.flatMap(([name, one]) => pathsIn(one, at === '' ? name : `${at}.${name}`))
}

export const VALUES: Manifest = parse(chartText('values.yaml'))

/** Checks manifests against the schemas of one version of Kubernetes. */
export class Kubernetes {
  private readonly ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
  private readonly validators = new Map<string, ValidateFunction>()
  private readonly folder: string

  constructor(version: string) {
    this.folder = join(SCHEMAS, `v${version}-local-strict`)
    this.ajv.addSchema(this.schema('_definitions.json'), '_definitions.json')
  }

  /** Returns the faults of a manifest. */
  faultsOf({ apiVersion, kind, ...rest }: Manifest): readonly string[] {
    const name = [kind, ...apiVersion.replace(/\.k8s\.io\b/, '').split('/')].join('-').toLowerCase()
    const validator = this.validators.getOrInsertComputed(name, () => this.ajv.compile(this.schema(`${name}.json`)))
    if (validator({ apiVersion, kind, ...rest })) return []
    return validator.errors!.map(({ instancePath, message }) => `${kind}${instancePath}: ${message}`)
  }

  private schema(file: string): object {
    return JSON.parse(readFileSync(join(this.folder, file), 'utf8'))
  }
}
