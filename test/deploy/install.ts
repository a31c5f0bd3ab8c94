import { mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { download, need, Unavailable } from '../agents/run.ts'
import {
  CACHE,
  HELM_VERSION,
  hasRender,
  hasSchemas,
  helm,
  KUBERNETES,
  RENDER,
  SCHEMAS,
  SCHEMAS_VERSION,
  SOURCES,
} from './tools.ts'

/*
 * Installs what the tests of the chart need into a cache: a program that renders it (Go), and Kubernetes' schemas
 * (PyPI). With --helm also Helm itself, which takes minutes. What is not available is printed; its tests are skipped.
 */

const { values } = parseArgs({ options: { helm: { type: 'boolean', default: false } } })

/** Runs a step, unless its result exists. A tool or registry that is missing is a line of output. */
function step(what: string, isDone: boolean, install: () => void): void {
  if (isDone) return
  try {
    mkdirSync(CACHE, { recursive: true })
    install()
  } catch (thrown) {
    if (!(thrown instanceof Unavailable)) throw thrown
    console.log(`WITHOUT ${what}, its tests are skipped: ${thrown.message}`)
  }
}

/** Schemas in the wheel of kubernetes-validate, one folder for each version of Kubernetes. */
const UNPACK = `
import sys, zipfile
wheel, folder, *versions = sys.argv[1:]
with zipfile.ZipFile(wheel) as archive:
    for name in archive.namelist():
        parts = name.split('/')
        if len(parts) == 4 and parts[2] in [f'v{version}-local-strict' for version in versions]:
            archive.extract(name, folder)
`

step('a program that renders the chart', hasRender, () => {
  need('go')
  download('go', ['build', '-o', RENDER, '.'], { cwd: SOURCES, env: { GOFLAGS: '-mod=readonly' } })
})

step('schemas of Kubernetes', hasSchemas, () => {
  need('python3')
  const begun = `${SCHEMAS}.begun`
  rmSync(begun, { recursive: true, force: true })
  const wheel = `kubernetes_validate-${SCHEMAS_VERSION}-py3-none-any.whl`
  const wanted = `kubernetes-validate==${SCHEMAS_VERSION}`
  download('python3', ['-m', 'pip', 'download', '--quiet', '--no-deps', '--dest', begun, wanted])
  download('python3', ['-c', UNPACK, join(begun, wheel), begun, ...KUBERNETES])
  renameSync(join(begun, 'kubernetes_validate/kubernetes-json-schema'), SCHEMAS)
  rmSync(begun, { recursive: true })
})

if (values.helm)
  step('Helm', helm !== undefined, () => {
    need('go')
    const folder = join(CACHE, `helm-${HELM_VERSION}`)
    download('go', ['install', `helm.sh/helm/v4/cmd/helm@v${HELM_VERSION}`], { env: { GOBIN: folder } })
  })
