export { describeExtraction } from './describe.js';
export { planTarget, type AudioPlan, type Plan, type PlanLimits, type VideoPlan } from './plan.js';
