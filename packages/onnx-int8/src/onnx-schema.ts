import protobuf from 'protobufjs';

/**
 * The part of the ONNX protobuf schema (IR version 8, field numbers of onnx/onnx.proto) that
 * inference graphs use. {@link decodeModel} rejects everything else (training info, local
 * functions, sparse tensors, quantisation annotations) instead of dropping it.
 */
const schemaText = `
syntax = "proto2";
package onnx;
message StringStringEntryProto { optional string key = 1; optional string value = 2; }
message OperatorSetIdProto { optional string domain = 1; optional int64 version = 2; }
message TensorProto {
  repeated int64 dims = 1;
  optional int32 data_type = 2;
  repeated float float_data = 4 [packed = true];
  repeated int32 int32_data = 5 [packed = true];
  repeated bytes string_data = 6;
  repeated int64 int64_data = 7 [packed = true];
  optional string name = 8;
  optional bytes raw_data = 9;
  repeated double double_data = 10 [packed = true];
  repeated uint64 uint64_data = 11 [packed = true];
  optional string doc_string = 12;
  repeated StringStringEntryProto external_data = 13;
  optional int32 data_location = 14;
}
message TensorShapeProto {
  message Dimension { optional int64 dim_value = 1; optional string dim_param = 2; optional string denotation = 3; }
  repeated Dimension dim = 1;
}
message TypeProto {
  message Tensor { optional int32 elem_type = 1; optional TensorShapeProto shape = 2; }
  optional Tensor tensor_type = 1;
  optional string denotation = 6;
}
message ValueInfoProto { optional string name = 1; optional TypeProto type = 2; optional string doc_string = 3; }
message AttributeProto {
  optional string name = 1;
  optional float f = 2;
  optional int64 i = 3;
  optional bytes s = 4;
  optional TensorProto t = 5;
  optional GraphProto g = 6;
  repeated float floats = 7;
  repeated int64 ints = 8;
  repeated bytes strings = 9;
  repeated TensorProto tensors = 10;
  repeated GraphProto graphs = 11;
  optional string doc_string = 13;
  optional int32 type = 20;
  optional string ref_attr_name = 21;
}
message NodeProto {
  repeated string input = 1;
  repeated string output = 2;
  optional string name = 3;
  optional string op_type = 4;
  repeated AttributeProto attribute = 5;
  optional string doc_string = 6;
  optional string domain = 7;
}
message GraphProto {
  repeated NodeProto node = 1;
  optional string name = 2;
  repeated TensorProto initializer = 5;
  optional string doc_string = 10;
  repeated ValueInfoProto input = 11;
  repeated ValueInfoProto output = 12;
  repeated ValueInfoProto value_info = 13;
}
message ModelProto {
  optional int64 ir_version = 1;
  optional string producer_name = 2;
  optional string producer_version = 3;
  optional string domain = 4;
  optional int64 model_version = 5;
  optional string doc_string = 6;
  optional GraphProto graph = 7;
  repeated OperatorSetIdProto opset_import = 8;
  repeated StringStringEntryProto metadata_props = 14;
}
`;

/** ONNX tensor element types (`TensorProto.DataType`) that we use. */
export const dataType = { float32: 1, uint8: 2, int8: 3, int32: 6, int64: 7, float16: 10 } as const;

/** Attribute types of ONNX (`AttributeProto.AttributeType`). */
export const attributeType = { float: 1, int: 2, string: 3, tensor: 4, ints: 7 } as const;

export interface OnnxTensor {
  name?: string;
  dims?: number[];
  dataType: number;
  rawData?: Uint8Array;
  floatData?: number[];
  int32Data?: number[];
  int64Data?: number[];
  externalData?: unknown[];
}

export interface OnnxAttribute {
  name: string;
  type?: number;
  f?: number;
  i?: number;
  s?: Uint8Array;
  t?: OnnxTensor;
  ints?: number[];
  g?: unknown;
  graphs?: unknown[];
}

export interface OnnxNode {
  input?: string[];
  output: string[];
  name?: string;
  opType: string;
  /** The operator set; absent for ONNX's standard operators. */
  domain?: string;
  attribute?: OnnxAttribute[];
}

export interface OnnxValueInfo {
  name: string;
  type?: { tensorType?: { elemType?: number; shape?: { dim?: { dimValue?: number; dimParam?: string }[] } } };
}

export interface OnnxModel {
  irVersion: number;
  producerName?: string;
  opsetImport: { domain?: string; version: number }[];
  graph: {
    name?: string;
    node: OnnxNode[];
    initializer?: OnnxTensor[];
    input: OnnxValueInfo[];
    output: OnnxValueInfo[];
    valueInfo?: OnnxValueInfo[];
  };
}

const modelType = protobuf.parse(schemaText).root.lookupType('onnx.ModelProto');

/**
 * Parses an ONNX file.
 * @throws if the bytes are not an ONNX model or use an unsupported part of the format
 */
export function decodeModel(bytes: Uint8Array): OnnxModel {
  const message = modelType.decode(bytes);
  // The schema above determines the shape.
  const model = modelType.toObject(message, { longs: Number }) as Partial<OnnxModel>;
  if (model.graph === undefined || model.irVersion === undefined || model.opsetImport === undefined) {
    throw new Error('Not an ONNX model: no graph, IR version or operator set.');
  }
  for (const node of model.graph.node) {
    if (node.attribute?.some((attribute) => attribute.g !== undefined || attribute.graphs !== undefined)) {
      throw new Error(`Node ${node.name ?? node.opType} has a subgraph, which is not supported.`);
    }
  }
  return model as OnnxModel;
}

/** Serialises a model as an ONNX file. The same model always gives the same bytes. */
export function encodeModel(model: OnnxModel): Uint8Array {
  return modelType.encode(modelType.fromObject(model)).finish();
}
