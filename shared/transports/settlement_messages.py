"""The two messages of the settlement service that we send, as the host's settlement.proto declares them.

They are declared here at run time instead of by generated code: generated code is tied to one protobuf release, and
the worker brings its own. The pool is ours, so that nobody else's copy of the same names can clash with it.
Source: settlement.proto of the Azure WebJobs Service Bus extension (no package; proto3).
"""

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, wrappers_pb2  # type: ignore[import-untyped]

_Field = descriptor_pb2.FieldDescriptorProto
_TEXT = {"type": _Field.TYPE_STRING}
_NULLABLE_TEXT = {"type": _Field.TYPE_MESSAGE, "type_name": ".google.protobuf.StringValue"}
_FIELDS: dict[str, dict[str, tuple[int, dict[str, Any]]]] = {
    "CompleteRequest": {"locktoken": (1, _TEXT)},
    # Field 2, the properties to modify, is left out: we change none, and an absent field means just that.
    "DeadletterRequest": {
        "locktoken": (1, _TEXT),
        "deadletterReason": (3, _NULLABLE_TEXT),
        "deadletterErrorDescription": (4, _NULLABLE_TEXT),
    },
}


def _declare() -> dict[str, Any]:
    file = descriptor_pb2.FileDescriptorProto(
        name="settlement.proto", syntax="proto3", dependency=[wrappers_pb2.DESCRIPTOR.name]
    )
    for message, fields in _FIELDS.items():
        declared = file.message_type.add(name=message)
        for field, (number, kind) in fields.items():
            declared.field.add(name=field, number=number, label=_Field.LABEL_OPTIONAL, **kind)
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(wrappers_pb2.DESCRIPTOR.serialized_pb)
    pool.AddSerializedFile(file.SerializeToString())
    return {name: message_factory.GetMessageClass(pool.FindMessageTypeByName(name)) for name in _FIELDS}


_MESSAGES = _declare()
CompleteRequest = _MESSAGES["CompleteRequest"]
DeadletterRequest = _MESSAGES["DeadletterRequest"]
