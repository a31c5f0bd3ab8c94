import type { Part } from '../../src/canonical/content.ts'
import type { Message } from '../../src/canonical/request.ts'

export const text = (value: string): Part => ({ type: 'text', text: value })

export const user = (...content: Part[]): Message => ({ role: 'user', content })
export const assistant = (...content: Part[]): Message => ({ role: 'assistant', content })
export const tool = (...content: Part[]): Message => ({ role: 'tool', content })
