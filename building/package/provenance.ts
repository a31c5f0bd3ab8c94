import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** What a release was built from. */
export interface Source {
  /** Public URL of the repository, as package.json has it. */
  readonly repository: string
  readonly commit: string
  /** Digest of package-lock.json, which fixes every package of the build. */
  readonly lock: string
}

/** A file of a release. */
export interface Artifact {
  readonly name: string
  readonly sha256: string
  readonly sha512: string
}

/**
 * Reads the source of a release from git.
 *
 * @throws Error if files have changed since the commit, because the release could not be built from it again.
 */
export function sourceOf(root: string): Source {
  const git = (...words: string[]): string => execFileSync('git', words, { cwd: root, encoding: 'utf8' }).trim()
  const changed = git('status', '--porcelain')
  if (changed !== '') throw new Error(`A release is built from a commit; these files differ from it:\n${changed}`)
  const { repository } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly repository: { readonly url: string }
  }
  const lock = digest('sha256', readFileSync(join(root, 'package-lock.json')))
  return { repository: repository.url, commit: git('rev-parse', 'HEAD'), lock }
}

/** Digests of a file. */
export const artifactOf = (name: string, bytes: Uint8Array): Artifact => ({
  ...{ name, sha256: digest('sha256', bytes), sha512: digest('sha512', bytes) },
})

const digest = (algorithm: string, bytes: Uint8Array): string => createHash(algorithm).update(bytes).digest('hex')

/**
 * States what a package was built from, as an in-toto statement of SLSA provenance 1.0 (https://slsa.dev/spec/v1.0/provenance).
 * The statement is unsigned: npm signs one of its own when a CI job publishes with `publishConfig.provenance`.
 */
export const provenanceOf = (
  { name, sha256, sha512 }: Artifact,
  { repository, commit, lock }: Source,
  node: string,
) => ({
  _type: 'https://in-toto.io/Statement/v1',
  subject: [{ name, digest: { sha256, sha512 } }],
  predicateType: 'https://slsa.dev/provenance/v1',
  predicate: {
    buildDefinition: {
      buildType: `${repository}#npm-run-release`,
      externalParameters: { command: 'npm run release' },
      internalParameters: { node },
      resolvedDependencies: [
        { uri: repository, digest: { gitCommit: commit } },
        { uri: `${repository}#package-lock.json`, digest: { sha256: lock } },
      ],
    },
    runDetails: { builder: { id: `${repository}#building/release.ts` } },
  },
})
