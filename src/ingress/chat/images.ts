import type { MediaPart } from '../../canonical/content.ts'
import { isObject, type Json } from '../../canonical/node.ts'
import { WrongType } from '../fields.ts'
import { readLink } from './content.ts'

const IMAGE = new Set(['type', 'image_url'])

/**
 * The images of an answer or a delta: `images` beside `content`, as OpenRouter and Vercel's gateway have them
 * (openrouter.ai/docs/features/multimodal/image-generation, read 2026-11-22). Undefined where they are anything else.
 */
export function readImages(wire: Json | undefined): readonly MediaPart[] | undefined {
  if (!Array.isArray(wire) || wire.length === 0) return undefined
  if (!wire.every(image => isObject(image) && image['type'] === 'image_url')) return undefined
  try {
    return wire.map(image => readLink(image, 'image_url', 'image', IMAGE))
  } catch (thrown) {
    if (thrown instanceof WrongType) return undefined
    throw thrown
  }
}
