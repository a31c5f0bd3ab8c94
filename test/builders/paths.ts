import { join } from 'node:path'

/** Paths of the endpoints for conversations, by format. */
export const PATHS: { readonly [format: string]: string } = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
  contents: '/v1beta/models/m:generateContent',
}

export const CHAT_PATH = '/v1/chat/completions'
export const MESSAGES_PATH = '/v1/messages'
export const RESPONSES_PATH = '/v1/responses'
export const TRANSCRIPTIONS_PATH = '/v1/audio/transcriptions'

/** Path of the program, for tests that start it. */
export const MAIN = join(import.meta.dirname, '../../bin/interlingua.js')

/**
 * Environment of such a program, without any configuration of a gateway. The program runs from its bundle, as that of
 * users does, or from its sources if they have changed since they were bundled.
 */
export const ENV = { PATH: process.env['PATH'] }
