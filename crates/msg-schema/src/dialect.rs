//! What each provider refuses in a schema, as one table (RQ-4). What the table does not name is accepted.

/// The part of JSON Schema that a provider accepts.
///
/// ```
/// use msg_schema::Dialect;
///
/// assert_eq!(Dialect::OPENAI_STRICT.name, "openai-strict");
/// assert_eq!(Dialect::OPENAI_STRICT.lax(), Some(Dialect::OPENAI));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Dialect {
    /// The name of the dialect.
    pub name: &'static str,
    pub(crate) root: Root,
    /// Keywords that are refused anywhere.
    pub(crate) refused: &'static [&'static str],
    /// What an array needs.
    pub(crate) arrays: Arrays,
    pub(crate) objects: Objects,
    /// It is judged by the metaschema: `items` is not a list.
    pub(crate) no_item_lists: bool,
    /// A schema may not refer to itself: anywhere, or where an instance could not end.
    pub(crate) cycles: Cycles,
    /// The values of an `enum` are plain.
    pub(crate) plain_enums: bool,
    /// `minItems` is 0 or 1.
    pub(crate) few_items: bool,
    /// The formats of strings that are known.
    pub(crate) formats: Option<&'static [&'static str]>,
    /// A `pattern` may look around.
    pub(crate) look_around: bool,
    /// `$ref` may have siblings.
    pub(crate) ref_siblings: bool,
    /// `type` may be beside `anyOf`.
    pub(crate) type_beside_union: bool,
    /// Size limits.
    pub(crate) limits: Option<Limits>,
    /// The spelling of OpenAPI, not JSON Schema.
    pub(crate) is_openapi: bool,
    /// What the provider answers, by code; the empty code is for all others.
    pub(crate) answers: &'static [(&'static str, &'static str)],
}

/// The requirements for the root.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Root {
    /// `type: "object"`.
    Object,
    /// `type: "object"`, or a reference.
    ObjectOrRef,
    /// `type: "object"` without these keywords.
    Without(&'static [&'static str]),
}

/// The requirements for objects.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Objects {
    /// Objects need `additionalProperties: false`.
    pub(crate) closed: bool,
    /// All properties must be required.
    pub(crate) all_required: bool,
    /// Each object needs a required property.
    pub(crate) one_required: bool,
    /// Property names have 1 to 64 characters of `a-zA-Z0-9_.-`.
    pub(crate) plain_names: bool,
    /// `required` may name only declared properties.
    pub(crate) known_required: bool,
    /// A property's schema may be a boolean.
    pub(crate) bool_properties: bool,
}

/// The requirements for arrays.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Arrays {
    Any,
    /// Something.
    Items,
    /// What they are.
    Typed,
}

/// Whether a schema may refer to itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Cycles {
    Allowed,
    /// Only where a property that may be absent breaks the cycle.
    Optional,
    Refused,
}

/// The largest schema.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) depth: usize,
    pub(crate) properties: usize,
    pub(crate) enum_values: usize,
    pub(crate) characters: usize,
}

const UNIONS: &[&str] = &["oneOf", "anyOf", "allOf"];
const UNIONS_AND_VALUES: &[&str] = &["oneOf", "anyOf", "allOf", "enum", "not"];

const FORMATS: &[&str] =
    &["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];
const FORMATS_AND_URI: &[&str] =
    &["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid", "uri"];

const ANY_OBJECTS: Objects = Objects {
    closed: false,
    all_required: false,
    one_required: false,
    plain_names: false,
    known_required: false,
    bool_properties: true,
};

/// A dialect that refuses only invalid schemas.
const ANY: Dialect = Dialect {
    name: "",
    root: Root::Object,
    refused: &[],
    arrays: Arrays::Any,
    objects: ANY_OBJECTS,
    no_item_lists: false,
    cycles: Cycles::Allowed,
    plain_enums: false,
    few_items: false,
    formats: None,
    look_around: true,
    ref_siblings: true,
    type_beside_union: true,
    limits: None,
    is_openapi: false,
    answers: &[],
};

impl Dialect {
    /// OpenAI, without strict mode.
    pub const OPENAI: Self = Self {
        name: "openai",
        root: Root::Without(UNIONS_AND_VALUES),
        arrays: Arrays::Items,
        answers: &[
            (
                "schema::root-not-object",
                "schema must be a JSON Schema of 'type: \"object\"', got 'type: …'",
            ),
            (
                "schema::root-union",
                "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level",
            ),
            ("schema::untyped-array", "array schema missing items"),
        ],
        ..ANY
    };

    /// OpenAI, strict tools and answer formats.
    pub const OPENAI_STRICT: Self = Self {
        name: "openai-strict",
        objects: Objects { closed: true, all_required: true, ..ANY_OBJECTS },
        arrays: Arrays::Typed,
        refused: &[
            "patternProperties",
            "unevaluatedProperties",
            "propertyNames",
            "minProperties",
            "maxProperties",
            "unevaluatedItems",
            "contains",
            "minContains",
            "maxContains",
            "uniqueItems",
            "not",
            "if",
            "then",
            "else",
            "dependentRequired",
            "dependentSchemas",
            "dependencies",
            "oneOf",
            "allOf",
            "minLength",
            "maxLength",
        ],
        formats: Some(FORMATS),
        look_around: false,
        ref_siblings: false,
        limits: Some(Limits {
            depth: 10,
            properties: 5_000,
            enum_values: 1_000,
            characters: 120_000,
        }),
        answers: &[
            (
                "schema::open-object",
                "'additionalProperties' is required to be supplied and to be false.",
            ),
            (
                "schema::optional-property",
                "'required' is required to be supplied and to be an array including every key in properties.",
            ),
            ("schema::keyword", "'KEYWORD' is not permitted"),
            (
                "schema::root-not-object",
                "schema must be a JSON Schema of 'type: \"object\"', got 'type: …'",
            ),
        ],
        ..Self::OPENAI
    };

    /// Anthropic, without strict mode.
    pub const ANTHROPIC: Self = Self {
        name: "anthropic",
        objects: Objects { plain_names: true, ..ANY_OBJECTS },
        root: Root::Without(UNIONS),
        no_item_lists: true,
        answers: &[
            ("schema::root-not-object", "tools.0.custom.input_schema.type: Field required"),
            (
                "schema::root-union",
                "input_schema does not support oneOf, allOf, or anyOf at the top level",
            ),
            (
                "schema::property-name",
                "Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'",
            ),
            ("schema::invalid", "JSON schema is invalid. It must match JSON Schema draft 2020-12"),
        ],
        ..ANY
    };

    /// Anthropic, strict tools and answer formats.
    pub const ANTHROPIC_STRICT: Self = Self {
        name: "anthropic-strict",
        objects: Objects { closed: true, bool_properties: false, ..Self::ANTHROPIC.objects },
        cycles: Cycles::Refused,
        plain_enums: true,
        few_items: true,
        formats: Some(FORMATS_AND_URI),
        look_around: false,
        refused: &[
            "patternProperties",
            "unevaluatedProperties",
            "propertyNames",
            "minProperties",
            "maxProperties",
            "unevaluatedItems",
            "contains",
            "minContains",
            "maxContains",
            "uniqueItems",
            "not",
            "if",
            "then",
            "else",
            "dependentRequired",
            "dependentSchemas",
            "dependencies",
            "oneOf",
            "prefixItems",
            "minLength",
            "maxLength",
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "multipleOf",
            "maxItems",
        ],
        answers: &[
            ("schema::recursive", "Circular reference detected in schema definitions"),
            ("schema::keyword", "property 'KEYWORD' is not supported"),
            (
                "schema::open-object",
                "For 'object' type, 'additionalProperties' must be explicitly set to false",
            ),
            ("schema::root-not-object", "tools.0.custom.input_schema.type: Field required"),
            ("schema::invalid", "JSON schema is invalid. It must match JSON Schema draft 2020-12"),
        ],
        ..Self::ANTHROPIC
    };

    /// Gemini, JSON Schema.
    pub const GEMINI: Self = Self {
        name: "gemini-json",
        root: Root::ObjectOrRef,
        ref_siblings: false,
        cycles: Cycles::Optional,
        ..ANY
    };

    /// Gemini, OpenAPI spelling.
    pub const GEMINI_OPENAPI: Self = Self {
        name: "gemini-openapi",
        is_openapi: true,
        answers: &[
            ("schema::keyword", "Unknown name \"KEYWORD\": Cannot find field."),
            ("schema::format", "only 'enum' and 'date-time' are supported for STRING type"),
            ("schema::required-unknown", "property is not defined"),
            ("schema::untyped-array", "items: missing field."),
        ],
        ..ANY
    };

    /// Bedrock, all models.
    pub const BEDROCK: Self = Self { name: "bedrock", ..ANY };

    /// Kimi.
    pub const KIMI: Self = Self {
        name: "kimi",
        objects: Objects { known_required: true, ..ANY_OBJECTS },
        type_beside_union: false,
        no_item_lists: true,
        answers: &[(
            "schema::type-beside-union",
            "when using anyOf, type should be defined in anyOf items instead of the parent schema",
        )],
        ..ANY
    };

    /// DeepSeek, strict tools.
    pub const DEEPSEEK_STRICT: Self = Self {
        name: "deepseek-strict",
        objects: Objects { closed: true, all_required: true, ..ANY_OBJECTS },
        refused: &["minLength", "maxLength", "minItems", "maxItems"],
        ..ANY
    };

    /// Cohere, strict tools and answer formats.
    pub const COHERE_STRICT: Self = Self {
        name: "cohere",
        objects: Objects { one_required: true, ..ANY_OBJECTS },
        refused: &[
            "allOf",
            "oneOf",
            "not",
            "minimum",
            "maximum",
            "minItems",
            "maxItems",
            "minLength",
            "maxLength",
            "uniqueItems",
        ],
        ..ANY
    };

    /// The dialect without strict mode for the same use; `None` if it has no known restrictions, and for a dialect
    /// that is not strict.
    pub fn lax(self) -> Option<Self> {
        match self.name {
            "openai-strict" => Some(Self::OPENAI),
            "anthropic-strict" => Some(Self::ANTHROPIC),
            _ => None,
        }
    }

    /// Whether the provider enforces the schema, and therefore accepts less of JSON Schema.
    pub fn is_strict(self) -> bool {
        matches!(self.name, "openai-strict" | "anthropic-strict" | "deepseek-strict" | "cohere")
    }
}

impl PartialEq for Dialect {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Dialect {}
