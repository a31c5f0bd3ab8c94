import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/* Programs and schemas for the tests of the chart. `node test/deploy/install.ts` installs them. */

/** Folder of the tools, outside the repository. */
export const CACHE = process.env['INTERLINGUA_DEPLOY'] ?? join(homedir(), '.cache/interlingua-deploy')

/** Sources of the program that renders the chart with Helm's template language and functions. */
export const SOURCES = join(import.meta.dirname, 'render')

const digest = createHash('sha256')
for (const file of globSync(join(SOURCES, '*')).sort()) digest.update(readFileSync(file))

/** The program that renders the chart. Its name contains a digest of its sources. */
export const RENDER = join(CACHE, `render-${digest.digest('hex').slice(0, 12)}`)

/** Version of Helm that is installed on request. */
export const HELM_VERSION = '4.3.1'

const HELM = join(CACHE, `helm-${HELM_VERSION}`, 'helm')

/** Package of PyPI with the schemas of Kubernetes, and the versions of Kubernetes that are tested. */
export const SCHEMAS_VERSION = '1.37.0'
export const KUBERNETES = ['1.30.0', '1.37.0'] as const

export const SCHEMAS = join(CACHE, `kubernetes-${SCHEMAS_VERSION}`)

/** The helm of the cache or of the path. */
export const helm: string | undefined = existsSync(HELM)
  ? HELM
  : spawnSync('helm', ['version', '--short']).status === 0
    ? 'helm'
    : undefined

export const hasRender = existsSync(RENDER)
export const hasSchemas = existsSync(SCHEMAS)
