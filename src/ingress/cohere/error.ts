export { readComplaint as readError } from '../complaint.ts'
