export { request } from '../arbitrary.ts'
export { asked, result } from '../arbitrary-result.ts'
