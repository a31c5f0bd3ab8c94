import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { lintSource } from '@secretlint/core'
import { creator } from '@secretlint/secretlint-rule-preset-recommend'
import { expect, test } from 'vitest'

/* Scans every file of the repository for credentials, such as keys of providers and passwords in addresses. */

/** Passwords of tests, which look like credentials. */
const HARMLESS: ReadonlySet<string> = new Set(['secret-of-the-tests', 's3cret', 'pass1234', 'pass'])

const BINARY = /\.(png|woff2|gif|ico|wav|mp3|pdf|webp)$/
const RULE = { id: creator.meta.id, rule: creator, options: {} }

/** Returns the credentials in a text, each as its rule and the line that contains it. */
async function secretsIn(path: string, content: string): Promise<readonly string[]> {
  const { messages } = await lintSource({
    source: { filePath: path, content, contentType: 'text', ext: extname(path) },
    options: { config: { rules: [RULE] }, noPhysicFilePath: true },
  })
  return messages
    .filter(({ range: [from, to] }) => !isHarmless(content.slice(from, to)))
    .map(({ loc, messageId }) => `${path}:${loc.start.line}: ${messageId}`)
}

const isHarmless = (found: string): boolean => HARMLESS.has(/:\/\/[^:]*:([^@]*)@/.exec(found)?.[1] ?? '')

test('the scanner finds credentials of several kinds', async () => {
  const key = `sk-ant-api03-${'a1B2-c3D4_'.repeat(9)}aaaAA`
  expect(await secretsIn('config.yaml', `key: ${key}\n`)).toHaveLength(1)
  expect(await secretsIn('a.env', `GITHUB_TOKEN=ghp_${'wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx'}\n`)).toHaveLength(1)
  expect(await secretsIn('config.yaml', `proxy: http://bob:${'hunter2'}@example.com\n`)).toHaveLength(1)
  expect(await secretsIn('.npmrc', `//registry.npmjs.org/:_authToken=npm_${'a1B2'.repeat(9)}\n`)).not.toEqual([])
})

test('no file of the repository has a credential', async () => {
  const files = execFileSync('git', ['ls-files', '-z'], { encoding: 'utf8', maxBuffer: 2 ** 26 })
    .split('\0')
    .filter(path => path !== '' && !BINARY.test(path))
  expect(files.length).toBeGreaterThan(1000)
  const found: string[] = []
  for (const path of files) found.push(...(await secretsIn(path, readFileSync(path, 'utf8'))))
  expect(found).toEqual([])
})
