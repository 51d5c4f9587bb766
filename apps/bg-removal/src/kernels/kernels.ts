export { boxColumns, boxRows, transposeRows } from './box-filter';
export { correctRows, edgeScratch, replaceRows } from './edge-colours';
export { blurTiles, mixTiles, shareTiles } from './feather';
export { fullAlphaRows, fullAlphaScratch } from './full-alpha';
export { cellColours } from './grid';
export { momentRows, solveColumns } from './guided-filter';
export { fuseCells, layerColumns, weighCells } from './layers';
export { applyMatte, areOpaque, findVisible, lookUp, measure, stretch } from './values';
export { halveRows, resizeColumns, resizeRows } from './resize';
