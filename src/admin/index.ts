export { type AdminAnswer, AdminApi, BASE, unknownPath, wrongMethod } from './api.ts'
export type { Endpoint } from './endpoint.ts'
export { ENDPOINTS } from './endpoints.ts'
