declare namespace __AdaptedExports {
  /** Exported memory */
  export const memory: WebAssembly.Memory;
  /**
   * src/kernels/box-filter/boxColumns
   * @param source `usize`
   * @param target `usize`
   * @param sums `usize`
   * @param width `i32`
   * @param height `i32`
   * @param radius `i32`
   * @param left `i32`
   * @param right `i32`
   */
  export function boxColumns(source: number, target: number, sums: number, width: number, height: number, radius: number, left: number, right: number): void;
  /**
   * src/kernels/box-filter/boxRows
   * @param source `usize`
   * @param target `usize`
   * @param width `i32`
   * @param radius `i32`
   * @param top `i32`
   * @param bottom `i32`
   */
  export function boxRows(source: number, target: number, width: number, radius: number, top: number, bottom: number): void;
  /**
   * src/kernels/box-filter/transposeRows
   * @param source `usize`
   * @param stride `i32`
   * @param width `i32`
   * @param height `i32`
   * @param target `usize`
   * @param targetStride `i32`
   * @param top `i32`
   * @param bottom `i32`
   */
  export function transposeRows(source: number, stride: number, width: number, height: number, target: number, targetStride: number, top: number, bottom: number): void;
  /**
   * src/kernels/edge-colours/correctRows
   * @param pixels `usize`
   * @param alpha `usize`
   * @param width `i32`
   * @param height `i32`
   * @param foreground `usize`
   * @param background `usize`
   * @param step `i32`
   * @param clearDifference `f32`
   * @param doubt `f32`
   * @param scratch `usize`
   * @param top `i32`
   * @param bottom `i32`
   */
  export function correctRows(pixels: number, alpha: number, width: number, height: number, foreground: number, background: number, step: number, clearDifference: number, doubt: number, scratch: number, top: number, bottom: number): void;
  /**
   * src/kernels/edge-colours/edgeScratch
   * @param width `i32`
   * @param gridWidth `i32`
   * @returns `usize`
   */
  export function edgeScratch(width: number, gridWidth: number): number;
  /**
   * src/kernels/edge-colours/replaceRows
   * @param pixels `usize`
   * @param alpha `usize`
   * @param visible `usize`
   * @param width `i32`
   * @param height `i32`
   * @param foreground `usize`
   * @param background `usize`
   * @param step `i32`
   * @param scratch `usize`
   * @param top `i32`
   * @param bottom `i32`
   */
  export function replaceRows(pixels: number, alpha: number, visible: number, width: number, height: number, foreground: number, background: number, step: number, scratch: number, top: number, bottom: number): void;
  /**
   * src/kernels/feather/blurTiles
   * @param alpha `usize`
   * @param target `usize`
   * @param width `i32`
   * @param height `i32`
   * @param kernel `usize`
   * @param radius `i32`
   * @param scratch `usize`
   * @param side `i32`
   * @param low `usize`
   * @param high `usize`
   * @param sums `usize`
   * @param sumsOfSquares `usize`
   * @param shares `usize`
   * @param hasEdges `usize`
   * @param from `i32`
   * @param to `i32`
   */
  export function blurTiles(alpha: number, target: number, width: number, height: number, kernel: number, radius: number, scratch: number, side: number, low: number, high: number, sums: number, sumsOfSquares: number, shares: number, hasEdges: number, from: number, to: number): void;
  /**
   * src/kernels/feather/mixTiles
   * @param alpha `usize`
   * @param blurred `usize`
   * @param width `i32`
   * @param height `i32`
   * @param side `i32`
   * @param shares `usize`
   * @param hasEdges `usize`
   * @param from `i32`
   * @param to `i32`
   */
  export function mixTiles(alpha: number, blurred: number, width: number, height: number, side: number, shares: number, hasEdges: number, from: number, to: number): void;
  /**
   * src/kernels/feather/shareTiles
   * @param width `i32`
   * @param height `i32`
   * @param side `i32`
   * @param low `usize`
   * @param high `usize`
   * @param sums `usize`
   * @param sumsOfSquares `usize`
   * @param shares `usize`
   * @param hasEdges `usize`
   * @param variance `f64`
   * @param fullSpan `i32`
   * @param leastShare `f64`
   * @param from `i32`
   * @param to `i32`
   */
  export function shareTiles(width: number, height: number, side: number, low: number, high: number, sums: number, sumsOfSquares: number, shares: number, hasEdges: number, variance: number, fullSpan: number, leastShare: number, from: number, to: number): void;
  /**
   * src/kernels/full-alpha/fullAlphaRows
   * @param pixels `usize`
   * @param alpha `usize`
   * @param width `i32`
   * @param height `i32`
   * @param mask `usize`
   * @param maskWidth `i32`
   * @param maskHeight `i32`
   * @param model `usize`
   * @param step `i32`
   * @param floor `f32`
   * @param complete `f32`
   * @param scratch `usize`
   * @param top `i32`
   * @param bottom `i32`
   */
  export function fullAlphaRows(pixels: number, alpha: number, width: number, height: number, mask: number, maskWidth: number, maskHeight: number, model: number, step: number, floor: number, complete: number, scratch: number, top: number, bottom: number): void;
  /**
   * src/kernels/full-alpha/fullAlphaScratch
   * @param width `i32`
   * @param gridWidth `i32`
   * @param maskWidth `i32`
   * @returns `usize`
   */
  export function fullAlphaScratch(width: number, gridWidth: number, maskWidth: number): number;
  /**
   * src/kernels/grid/cellColours
   * @param pixels `usize`
   * @param width `i32`
   * @param height `i32`
   * @param step `i32`
   * @param cells `usize`
   * @param top `i32`
   * @param bottom `i32`
   */
  export function cellColours(pixels: number, width: number, height: number, step: number, cells: number, top: number, bottom: number): void;
  /**
   * src/kernels/guided-filter/momentRows
   * @param colours `usize`
   * @param alpha `usize`
   * @param moments `usize`
   * @param width `i32`
   * @param radius `i32`
   * @param top `i32`
   * @param bottom `i32`
   */
  export function momentRows(colours: number, alpha: number, moments: number, width: number, radius: number, top: number, bottom: number): void;
  /**
   * src/kernels/guided-filter/solveColumns
   * @param moments `usize`
   * @param model `usize`
   * @param sums `usize`
   * @param width `i32`
   * @param height `i32`
   * @param radius `i32`
   * @param epsilon `f64`
   * @param left `i32`
   * @param right `i32`
   */
  export function solveColumns(moments: number, model: number, sums: number, width: number, height: number, radius: number, epsilon: number, left: number, right: number): void;
  /**
   * src/kernels/layers/fuseCells
   * @param pixels `usize`
   * @param alpha `usize`
   * @param width `i32`
   * @param height `i32`
   * @param step `i32`
   * @param foreground `usize`
   * @param background `usize`
   * @param hasMixed `usize`
   * @param cellForeground `usize`
   * @param cellBackground `usize`
   * @param firstRow `i32`
   * @param lastRow `i32`
   */
  export function fuseCells(pixels: number, alpha: number, width: number, height: number, step: number, foreground: number, background: number, hasMixed: number, cellForeground: number, cellBackground: number, firstRow: number, lastRow: number): void;
  /**
   * src/kernels/layers/layerColumns
   * @param frontRows `usize`
   * @param behindRows `usize`
   * @param colours `usize`
   * @param foreground `usize`
   * @param background `usize`
   * @param sums `usize`
   * @param width `i32`
   * @param height `i32`
   * @param radius `i32`
   * @param leastCoverage `f64`
   * @param someCoverage `f64`
   * @param goodCoverage `f64`
   * @param left `i32`
   * @param right `i32`
   */
  export function layerColumns(frontRows: number, behindRows: number, colours: number, foreground: number, background: number, sums: number, width: number, height: number, radius: number, leastCoverage: number, someCoverage: number, goodCoverage: number, left: number, right: number): void;
  /**
   * src/kernels/layers/weighCells
   * @param pixels `usize`
   * @param alpha `usize`
   * @param width `i32`
   * @param height `i32`
   * @param step `i32`
   * @param isOpaque `bool`
   * @param colours `usize`
   * @param foreground `usize`
   * @param background `usize`
   * @param hasMixed `usize`
   * @param firstRow `i32`
   * @param lastRow `i32`
   */
  export function weighCells(pixels: number, alpha: number, width: number, height: number, step: number, isOpaque: boolean, colours: number, foreground: number, background: number, hasMixed: number, firstRow: number, lastRow: number): void;
  /**
   * src/kernels/values/applyMatte
   * @param pixels `usize`
   * @param matte `usize`
   * @param count `i32`
   * @param isOpaque `bool`
   */
  export function applyMatte(pixels: number, matte: number, count: number, isOpaque: boolean): void;
  /**
   * src/kernels/values/areOpaque
   * @param pixels `usize`
   * @param count `i32`
   * @returns `bool`
   */
  export function areOpaque(pixels: number, count: number): boolean;
  /**
   * src/kernels/values/findVisible
   * @param pixels `usize`
   * @param width `i32`
   * @param top `i32`
   * @param bottom `i32`
   * @param result `usize`
   */
  export function findVisible(pixels: number, width: number, top: number, bottom: number, result: number): void;
  /**
   * src/kernels/values/lookUp
   * @param from `usize`
   * @param to `usize`
   * @param count `i32`
   * @param table `usize`
   */
  export function lookUp(from: number, to: number, count: number, table: number): void;
  /**
   * src/kernels/values/measure
   * @param values `usize`
   * @param count `i32`
   * @param floor `f32`
   * @param result `usize`
   */
  export function measure(values: number, count: number, floor: number, result: number): void;
  /**
   * src/kernels/values/stretch
   * @param values `usize`
   * @param count `i32`
   * @param lowest `f32`
   * @param scale `f32`
   */
  export function stretch(values: number, count: number, lowest: number, scale: number): void;
  /**
   * src/kernels/resize/halveRows
   * @param source `usize`
   * @param stride `i32`
   * @param width `i32`
   * @param height `i32`
   * @param target `usize`
   * @param targetStride `i32`
   * @param top `i32`
   * @param bottom `i32`
   */
  export function halveRows(source: number, stride: number, width: number, height: number, target: number, targetStride: number, top: number, bottom: number): void;
  /**
   * src/kernels/resize/resizeColumns
   * @param source `usize`
   * @param stride `i32`
   * @param width `i32`
   * @param height `i32`
   * @param target `usize`
   * @param targetStride `i32`
   * @param firsts `usize`
   * @param weights `usize`
   * @param count `i32`
   * @param top `i32`
   * @param bottom `i32`
   */
  export function resizeColumns(source: number, stride: number, width: number, height: number, target: number, targetStride: number, firsts: number, weights: number, count: number, top: number, bottom: number): void;
  /**
   * src/kernels/resize/resizeRows
   * @param source `usize`
   * @param stride `i32`
   * @param target `usize`
   * @param width `i32`
   * @param firsts `usize`
   * @param weights `usize`
   * @param count `i32`
   * @param top `i32`
   * @param bottom `i32`
   */
  export function resizeRows(source: number, stride: number, target: number, width: number, firsts: number, weights: number, count: number, top: number, bottom: number): void;
}
/** Instantiates the compiled WebAssembly module with the given imports. */
export declare function instantiate(module: WebAssembly.Module, imports: {
}): Promise<typeof __AdaptedExports>;
