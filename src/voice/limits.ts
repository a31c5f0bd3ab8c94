/**
 * Most running responses tracked per session. An upstream may start responses without ending them; beyond the limit the
 * oldest is forgotten.
 */
export const MAX_RUNNING = 64
