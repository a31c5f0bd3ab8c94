import type { Json, JsonObject } from '../../../src/canonical/node.ts'
import type { Loose, StrictVendor } from './vendor.ts'

const READ = 'read on 2026-12-01'

const NAME = /^[a-zA-Z_][\w.:-]{0,63}$/

const user: JsonObject = { role: 'user', parts: [{ text: 'hi' }] }
const ask: JsonObject = { contents: [user] }
const now: JsonObject = { name: 'now', parametersJsonSchema: { type: 'object', properties: {} } }

const withCall = (name: string, response: Json = { a: 'b' }): JsonObject => ({
  contents: [
    user,
    { role: 'model', parts: [{ functionCall: { name, args: {} } }] },
    { role: 'user', parts: [{ functionResponse: { name, response } }] },
  ],
})

const turnsOf = ({ contents = [] }: Loose): Loose[] => contents

const partsOf = (body: Loose): Loose[] => turnsOf(body).flatMap(({ parts = [] }) => parts)

const functionsOf = (body: Loose): Loose[] =>
  (body.tools ?? []).flatMap(({ functionDeclarations = [] }: Loose) => functionDeclarations)

const HOSTED = ['googleSearch', 'urlContext', 'codeExecution']

const isHosted = (entry: Loose): boolean => HOSTED.some(field => field in entry)

const hasHosted = (body: Loose): boolean => (body.tools ?? []).some(isHosted)

/** Returns true for a turn of empty texts without other fields. */
const isEmptyTurn = ({ parts, role: _, ...others }: Loose): boolean =>
  Object.keys(others).length === 0 && parts?.every((part: Loose) => JSON.stringify(part) === '{"text":""}')

const countOf = ({ parts = [] }: Loose, field: string): number => parts.filter((part: Loose) => part[field]).length

/**
 * Returns true if the turn after those with calls has another number of responses. Open calls at the end are the
 * caller's. A turn with other fields stands for itself.
 */
function hasOtherCount(body: Loose): boolean {
  const turns = turnsOf(body)
  let calls = 0
  return turns.some((turn, at) => {
    if (turn.role === 'model') calls += countOf(turn, 'functionCall')
    if (turn.role !== 'user') return false
    // A turn with a field of its own stays apart from the one before it.
    const isWhole = [turn, turns[at + 1]].every(one => one !== undefined && Object.keys(one).length === 2)
    const isOther = calls > 0 && isWhole && countOf(turn, 'functionResponse') !== calls
    calls = 0
    return isOther
  })
}

const typesOf = ({ inlineData, functionResponse }: Loose): string[] =>
  [inlineData, ...(functionResponse?.parts ?? []).map((part: Loose) => part.inlineData)].flatMap(
    data => data?.mimeType ?? [],
  )

export const googleContents: StrictVendor = {
  preset: 'google',
  format: 'contents',
  models: [
    ...['gemini-2.0-flash', 'gemini-2.5-flash', 'gemini-2.5-pro', 'gemini-3-pro-preview', 'gemini-3.1-flash-lite'],
    ...['gemini-3.7-flash', 'gemini-4-argon'],
  ],
  refusals: [
    {
      error: 'Invalid function name. Must start with a letter or an underscore',
      source: `google-gemini/gemini-cli#2966, kaitranntt/ccs#25, ${READ}`,
      refuses: body => functionsOf(body).some(({ name }) => !NAME.test(name)),
      example: { ...ask, tools: [{ functionDeclarations: [{ ...now, name: '1/a' }] }] },
    },
    {
      error: 'Invalid function name of a call or a response',
      source: `google-gemini/gemini-cli#2966, ${READ}`,
      refuses: body =>
        partsOf(body).some(({ functionCall, functionResponse = functionCall }) =>
          functionResponse ? !NAME.test(functionResponse.name) : false,
        ),
      example: withCall('1/a'),
    },
    {
      error: 'Duplicate function declaration found: now',
      source: `lobehub/lobehub#12604, ai-dashboad/flutter-skill#32, ${READ}`,
      refuses: body => {
        const names = functionsOf(body).map(({ name }) => name)
        return new Set(names).size < names.length
      },
      example: { ...ask, tools: [{ functionDeclarations: [now, now] }] },
    },
    {
      error: 'Unable to submit request because it has an empty text parameter',
      source: `zuisong/gemini-openai-proxy#83, router-for-me/CLIProxyAPI#1292, ${READ}`,
      refuses: body => turnsOf(body).some(isEmptyTurn),
      example: { contents: [user, { role: 'model', parts: [{ text: '' }] }, user] },
    },
    {
      error: 'the number of function response parts is equal to the number of function call parts',
      source: `diegosouzapw/OmniRoute#1412, ${READ}`,
      refuses: hasOtherCount,
      example: {
        contents: [
          user,
          {
            role: 'model',
            parts: [{ functionCall: { name: 'a', args: {} } }, { functionCall: { name: 'b', args: {} } }],
          },
          { role: 'user', parts: [{ functionResponse: { name: 'a', response: {} } }] },
          user,
        ],
      },
    },
    {
      error: 'Tool use with function calling is unsupported',
      source: `symfony/ai#803, lbjlaq/Antigravity-Manager#2241, ${READ}`,
      refuses: (body, model) => /gemini-2/.test(model) && functionsOf(body).length > 0 && hasHosted(body),
      example: { ...ask, tools: [{ functionDeclarations: [now] }, { googleSearch: {} }] },
    },
    {
      error: "Tool use with a response mime type: 'application/json' is unsupported",
      source: `googleapis/python-genai#867, snailyp/gemini-balance#264, ${READ}`,
      refuses: (body, model) =>
        /gemini-2/.test(model) &&
        (functionsOf(body).length > 0 || hasHosted(body)) &&
        body.generationConfig?.responseMimeType === 'application/json',
      example: {
        ...ask,
        tools: [{ functionDeclarations: [now] }],
        generationConfig: { responseMimeType: 'application/json' },
      },
    },
    {
      error: 'Function calling config is set without function_declarations',
      source: `pydantic/pydantic-ai#5791, UKGovernmentBEIS/inspect_ai#2463, ${READ}`,
      refuses: ({ toolConfig, tools = [] }) =>
        toolConfig?.functionCallingConfig && tools.length > 0 && tools.every(isHosted),
      example: { ...ask, tools: [{ googleSearch: {} }], toolConfig: { functionCallingConfig: { mode: 'ANY' } } },
    },
    {
      error: 'The referenced name `#/$defs/A` in function_response.response does not match to a display_name',
      source: `vercel/ai#14369, router-for-me/CLIProxyAPI#6065, ${READ}`,
      refuses: body =>
        partsOf(body).some(({ functionResponse }) =>
          JSON.stringify(functionResponse?.response ?? '').includes('"$ref"'),
        ),
      example: withCall('now', { $ref: '#/$defs/A' }),
    },
    {
      error: 'Unsupported MIME type: image/gif',
      source: `Mai-with-u/MaiBot#1435, microsoft/vscode#286628, google-gemini/gemini-cli#14838, ${READ}`,
      refuses: body => partsOf(body).some(part => typesOf(part).some(type => /^image\/(?:gif|bmp|tiff)/i.test(type))),
      example: { contents: [{ role: 'user', parts: [{ inlineData: { mimeType: 'image/gif', data: 'AAAA' } }] }] },
    },
    {
      error: 'it has a topK value of 0 but the supported range is from 1',
      source: `genkit-ai/genkit#1397, Robitx/gp.nvim#241, ${READ}`,
      refuses: ({ generationConfig }) => generationConfig?.topK < 1,
      example: { ...ask, generationConfig: { topK: 0 } },
    },
  ],
}
