import type { StrictMediaVendor } from './media-vendor.ts'
import { openrouterImages } from './openrouter.ts'
import { togetherImages } from './together.ts'

export const MEDIA_VENDORS: readonly StrictMediaVendor[] = [openrouterImages, togetherImages]
