import type { StrictMediaVendor } from './media-vendor.ts'
import { mistralSpeech } from './mistral.ts'
import { openrouterImages } from './openrouter.ts'
import { togetherImages } from './together.ts'

export const MEDIA_VENDORS: readonly StrictMediaVendor[] = [mistralSpeech, openrouterImages, togetherImages]
