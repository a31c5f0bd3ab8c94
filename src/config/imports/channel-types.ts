import { rowOf } from '../../canonical/maps.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { COMPATIBLE_FORMATS } from './draft.ts'

/*
 * Channel types of new-api and one-api. Their numbers, addresses and paths are from constant/channel.go and
 * relay/channel of new-api, and relay/channeltype and relay/adaptor of one-api, read on 2026-11-30.
 */

export type ChannelProgram = 'new-api' | 'one-api'

/** Upstream of a channel type: a preset, or formats at the channel's address. */
export interface Upstream {
  readonly preset?: string
  /** Formats at an address of the channel's own. */
  readonly formats: readonly string[]
  /** Path that the program appends to the address. */
  readonly below: string
  /** The program's usual address. Absent if it is that of the preset, or if each channel needs its own. */
  readonly address?: string
  /** True if channels have the preset's paths and dialect also at their own address. */
  readonly keepsPreset?: true
  /** True if the program sends every request to the address itself, with the model's name in place of `{model}`. */
  readonly isComplete?: true
}

const CHAT: Upstream = { formats: COMPATIBLE_FORMATS, below: '/v1' }
const chat = (preset: string): Upstream => ({ ...CHAT, preset })
/** Chat at an address that already has the version. */
const CHAT_AT_ROOT: Upstream = { formats: COMPATIBLE_FORMATS, below: '' }
/** Chat at an address that already has the complete path. */
const CHAT_ALONE: Upstream = { formats: ['chat'], below: '' }

/** A vendor at an address of its own. Keys of an account in China are not valid at the vendor's other address. */
const vendor = (preset: string, address: string, below: string): Upstream => ({
  ...{ preset, address, below, formats: ['chat'] },
  keepsPreset: true,
})

/** The preset's dialect serves Ollama wherever it runs. */
const OLLAMA: Upstream = { ...chat('ollama'), keepsPreset: true }
const MINIMAX = vendor('minimax', 'https://api.minimax.chat', '/v1')
const COHERE: Upstream = { preset: 'cohere', formats: ['cohere-chat'], below: '', keepsPreset: true }
const SILICONFLOW: Upstream = { ...CHAT, address: 'https://api.siliconflow.cn' }
const LINGYI: Upstream = { ...CHAT, address: 'https://api.lingyiwanwu.com' }
const VOLCENGINE: Upstream = { ...CHAT, address: 'https://ark.cn-beijing.volces.com', below: '/api/v3' }
const QIANFAN: Upstream = { ...CHAT, address: 'https://qianfan.baidubce.com', below: '/v2' }
const DASHSCOPE = vendor('dashscope', 'https://dashscope.aliyuncs.com', '/compatible-mode/v1')
const AT_GOOGLE = 'https://generativelanguage.googleapis.com/v1beta/openai'

/** Type of the deployments of Azure. */
export const AZURE = 3

/** Channel types of both programs. */
const COMMON: { readonly [type: number]: Upstream } = {
  1: chat('openai'),
  [AZURE]: { preset: 'azure-deployments', formats: ['chat'], below: '', keepsPreset: true },
  14: { preset: 'anthropic', formats: ['messages'], below: '' },
  17: DASHSCOPE,
  20: chat('openrouter'),
  24: { preset: 'google', formats: ['contents'], below: '' },
  25: vendor('moonshot', 'https://api.moonshot.cn', '/v1'),
  31: LINGYI,
}

/** Channel types by program. */
export const TYPES: { readonly [P in ChannelProgram]: { readonly [type: number]: Upstream } } = {
  'new-api': {
    ...COMMON,
    ...{
      4: OLLAMA,
      8: { ...CHAT_ALONE, isComplete: true },
      26: vendor('zai', 'https://open.bigmodel.cn', '/api/paas/v4'),
    },
    ...{ 27: { ...CHAT_ALONE, address: 'https://api.perplexity.ai' }, 34: COHERE, 35: MINIMAX },
    ...{ 38: { preset: 'jina', formats: ['embeddings', 'rerank'], below: '/v1' }, 40: SILICONFLOW },
    ...{ 42: chat('mistral'), 43: chat('deepseek'), 45: VOLCENGINE, 46: QIANFAN, 47: CHAT, 48: chat('xai') },
  },
  'one-api': {
    ...COMMON,
    ...{
      8: CHAT,
      19: { ...CHAT, address: 'https://ai.360.cn' },
      26: { ...CHAT, address: 'https://api.baichuan-ai.com' },
    },
    ...{ 27: MINIMAX, 28: chat('mistral'), 29: chat('groq'), 30: OLLAMA },
    ...{ 32: { ...CHAT, address: 'https://api.stepfun.com' }, 35: COHERE, 40: VOLCENGINE },
    ...{ 41: { ...CHAT_ALONE, address: 'https://api.novita.ai/v3/openai' }, 47: QIANFAN, 49: DASHSCOPE },
    ...{ 48: { ...CHAT, address: 'https://spark-api-open.xf-yun.com' }, 51: { ...CHAT_AT_ROOT, address: AT_GOOGLE } },
    ...{ 36: chat('deepseek'), 39: chat('together'), 44: SILICONFLOW, 45: chat('xai'), 50: CHAT_AT_ROOT },
  },
}

/** Fields by which a channel shows the program that it is from. The forks of one-hub have the same ones. */
const MARKS: { readonly [program: string]: readonly string[] } = {
  'new-api': ['auto_ban', 'channel_info'],
  'one-api': ['config'],
  'one-hub': ['only_chat', 'pre_cost', 'compatible_response'],
}

/**
 * Returns the program that a channel is from, if its types have other numbers than those of the given program: its keys
 * would reach another vendor.
 */
export function otherProgram(program: ChannelProgram, type: number, channel: JsonObject): string | undefined {
  const [origin] = Object.entries(MARKS).find(([, fields]) => fields.some(field => Object.hasOwn(channel, field))) ?? []
  if (origin === undefined || origin === program) return undefined
  const types = rowOf<{ readonly [type: number]: Upstream }>(TYPES, origin)
  return types !== undefined && types[type] === TYPES[program][type] ? undefined : origin
}

/** Names that new-api accepts as addresses, each with the complete address of Chat Completions. */
export const PLANS: { readonly [name: string]: string } = {
  'glm-coding-plan': 'https://open.bigmodel.cn/api/coding/paas/v4',
  'glm-coding-plan-international': 'https://api.z.ai/api/coding/paas/v4',
  'kimi-coding-plan': 'https://api.kimi.com/coding/v1',
  'doubao-coding-plan': 'https://ark.cn-beijing.volces.com/api/coding/v3',
}

/** Unix time in seconds from which new-api keeps dots in the names of deployments of new channels. */
const DOTS_SINCE = Date.UTC(2025, 4, 10) / 1000

/** Returns true if the program removes dots from the names of a channel's deployments: `gpt-4.1` is at `gpt-41`. */
export const removesDots = (program: ChannelProgram, type: number, createdAt: number): boolean =>
  type === AZURE && (program === 'one-api' || createdAt < DOTS_SINCE)
