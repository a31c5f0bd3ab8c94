/* What every client in JavaScript has in common: where its packages are, and two tools on files. */

import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const { IL_ADDRESS, IL_KEY, IL_MODEL, IL_PROMPT, IL_PACKAGES, IL_THINKING } = process.env

export const address = IL_ADDRESS
export const key = IL_KEY
export const model = IL_MODEL
export const prompt = IL_PROMPT
/** How Claude's formats are asked to think. */
export const thinking = JSON.parse(IL_THINKING)
/** More than any session here takes. */
export const STEPS = 8

/** Packages of the installation under test, and not of this repository. */
export const load = createRequire(`${IL_PACKAGES}/`)

const schema = (...names) => ({
  type: 'object',
  properties: Object.fromEntries(names.map(name => [name, { type: 'string' }])),
  required: names,
  additionalProperties: false,
})

export const tools = [
  {
    name: 'read_file',
    description: 'Read a file.',
    schema: schema('path'),
    run: ({ path }) => readFileSync(path, 'utf8'),
  },
  {
    name: 'write_file',
    description: 'Write a file.',
    schema: schema('path', 'content'),
    run: ({ path, content }) => {
      writeFileSync(path, content)
      return `wrote ${content.length} characters`
    },
  },
]
